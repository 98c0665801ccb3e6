"""The exercise `derivative`."""
