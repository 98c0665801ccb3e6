"""Optional packages, and the extra of the course that installs each of them."""

from __future__ import annotations

from importlib.util import find_spec

EXTRAS = {
    "learn": (
        "torchvision", "matplotlib", "PIL", "jupyterlab", "jupyter_server", "ipykernel", "IPython",
        "tabulate",
    ),
    "teach": (
        "nbgrader", "nbclient", "nbconvert", "jupytext", "traitlets", "sqlalchemy", "nh3",
        "pygments", "soupsieve",
    ),
    "postgresql": ("psycopg", "psycopg_binary"),
    "cluster": ("distributed", "dask"),
    "book": ("sphinx", "myst_nb", "pydata_sphinx_theme", "babel", "pytest", "networkx"),
}  # fmt: skip
"""The modules that each extra installs, by their import names."""

_EXTRA_OF = {module: extra for extra, modules in EXTRAS.items() for module in modules}


class MissingPackage(ModuleNotFoundError):
    """An optional package is not installed; the message says how to install it."""


def how_to_install(module: str) -> str:
    """Return the line that names the extra that installs a module, such as ``torchvision``."""
    return f'This needs {module}. Install it with: pip install "fxcourse[{_EXTRA_OF[module]}]"'


def advice(error: ImportError) -> str:
    """Return the line for a failed import, or ``""`` if no extra installs the module."""
    module = (error.name or "").partition(".")[0]
    return how_to_install(module) if module in _EXTRA_OF else ""


def is_installed(module: str) -> bool:
    """Whether a module can be found, without importing it."""
    return find_spec(module) is not None


def require(*modules: str) -> None:
    """Raise an error about a missing extra before any work is done.

    Raises:
        MissingPackage: one of the modules is not installed.
    """
    for module in modules:
        if not is_installed(module):
            raise MissingPackage(how_to_install(module), name=module)
