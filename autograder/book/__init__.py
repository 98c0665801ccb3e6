"""The book: all chapters with their outputs as static pages, made by Sphinx; ``fxcourse book``.

`making` puts the pages' sources together in ``build/book/source`` and runs Sphinx on them. What is
written by hand, and how Sphinx is set up, lies in ``docs/``.
"""
