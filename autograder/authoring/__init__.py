"""Public names for writing exercises; the modules that define them may change.

There is one module for each file of an exercise: `models` for ``models.py``, `question` for
``cases.py``, `key` for ``key.py``. They are separate because different processes import them: a
learner's code runs next to ``models.py`` and must not find cases or keys, and a question must not
lead to its key.
"""
