"""The exercise `OpTimer`."""
