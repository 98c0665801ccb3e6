"""The exercises of the deep dive 12c: one spelling, then the pattern."""
