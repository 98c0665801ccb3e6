"""A learner's own folder: the chapters to work in, kept up to date without losing any work."""
