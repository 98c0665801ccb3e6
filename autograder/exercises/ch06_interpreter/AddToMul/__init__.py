"""The exercise `AddToMul`."""
