"""What every fork server begins with: imported once, in the process that they are forked from.

A student's process is forked from there, too, so nothing is imported here that says an answer.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from autograder.core.quick_imports import quick_imports

FOR_CARDS = ("triton", "cuda.bindings")
"""A compiler, and what talks to a card's driver."""

LIBRARIES = {"libtorch_global_deps.so": os.RTLD_GLOBAL, "libtorch_python.so": os.RTLD_LOCAL}
"""What PyTorch loads when it is imported, in its own order and way; a fifth of that time."""

BEFORE = (
    "_asyncio", "_bisect", "_blake2", "_bz2", "_contextvars", "_csv", "_curses", "_datetime",
    "_decimal", "_elementtree", "_hashlib", "_heapq", "_json", "_lzma", "_opcode", "_pickle",
    "_posixsubprocess", "_queue", "_random", "_sha512", "_socket", "_ssl", "_uuid", "_zoneinfo",
    "array", "binascii", "charset_normalizer", "cmath", "fcntl", "markupsafe._speedups", "math",
    "msgpack", "pyexpat", "rpds", "select", "termios", "tornado.speedups", "unicodedata", "zlib",
    "zmq",
)  # fmt: skip
"""Compiled modules of those in `MEANWHILE`. The system loads one library at a time: the first of
these that is not there yet would wait until PyTorch's are."""

MEANWHILE = ("nbformat", "nbconvert.preprocessors", "IPython.core.interactiveshell", "sympy")
"""What the servers, or PyTorch, import anyway, and needs no library of PyTorch."""


def begin(loaded: Callable[[], object]) -> None:
    """Import what takes the longest.

    What is for graphics cards comes with some builds of PyTorch, and takes a tenth of the time.
    Here there is no card; the builds for processors do without it.

    Args:
        loaded: is called when PyTorch's libraries are loaded, and one thread is left.
    """
    for name in FOR_CARDS:
        cast("dict[str, object]", sys.modules)[name] = None  # Python's way to say: not to be found
    with quick_imports():
        for name in BEFORE:
            with suppress(ImportError):  # another version of Python or of a package lacks some
                importlib.import_module(name)
        loading = threading.Thread(target=load_libraries)
        loading.start()
        for name in MEANWHILE:
            importlib.import_module(name)
    loading.join()  # there is one thread again before anything is forked
    loaded()
    _import_pytorch()


def load_libraries() -> None:
    """Load PyTorch's libraries; beside it, another thread can import what needs none of them.

    While Python itself loads a library, no other thread goes on; while a function of C runs that
    was called like this, others do. A build that has other libraries loads them later, as ever.
    """
    with suppress(Exception):
        spec = find_spec("torch")
        if spec is None or spec.origin is None:
            return
        dlopen = ctypes.CDLL(None).dlopen
        dlopen.restype = ctypes.c_void_p
        for name, way in LIBRARIES.items():
            library = Path(spec.origin).parent / "lib" / name
            dlopen(os.fsencode(library), ctypes.c_int(os.RTLD_NOW | way))


def _import_pytorch() -> None:
    from autograder.boxed.late_imports import import_late, import_torchvision, start_autograd

    start_autograd()
    import_torchvision()
    import_late()
