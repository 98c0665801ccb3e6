"""The exercise `NegSigmSwap`."""
