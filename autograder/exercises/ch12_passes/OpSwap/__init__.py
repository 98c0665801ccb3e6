"""The exercise `OpSwap`."""
