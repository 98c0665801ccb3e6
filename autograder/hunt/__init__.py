"""A hunt: tests any pass on random models, and finds the smallest model that shows it wrong."""
