"""Rules that serve one exercise each, or a chapter."""
