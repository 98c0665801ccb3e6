"""The exercise `fresh_noise`."""
