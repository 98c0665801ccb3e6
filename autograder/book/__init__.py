"""The book: all chapters with their outputs as static pages, made by Sphinx; ``fxcourse book``.

`making` writes the sources of the pages into ``build/book/source`` and runs Sphinx on them. Pages
written by hand, and Sphinx's configuration, are in ``docs/``.
"""
