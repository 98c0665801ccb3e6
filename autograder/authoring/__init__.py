"""The names with which exercises are written; the code that defines them may move.

There is one module for each file of an exercise: `models` for ``models.py``, `question` for
``cases.py``, `key` for ``key.py``. They are three, because each is imported in other processes: a
learner's code runs next to ``models.py`` and must not find cases or keys, and a question must not
lead to its key.
"""
