"""Pages for tests: a small book, built pages, and pages as GitHub renders them."""
