"""A hunt: random models against a pass, anybody's, and the smallest model that shows it wrong."""
