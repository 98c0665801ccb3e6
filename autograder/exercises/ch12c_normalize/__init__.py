"""The exercises of the optional part 12c: one spelling, then the pattern."""
