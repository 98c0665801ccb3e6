"""Today's bugs in PyTorch: a test for each fails as soon as a new version has fixed it."""
