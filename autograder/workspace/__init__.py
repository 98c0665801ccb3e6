"""A learner's own folder: the chapters to work in, updated without losing any work."""
