"""What PyTorch gets wrong today, each bug a test: it says when a new version has mended it."""
