"""The exercise `sign_flip`."""
