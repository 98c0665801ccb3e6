"""Makes a wheel of the installed course, for students or for a machine that grades."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import zipfile
from collections.abc import Collection, Mapping
from importlib import metadata
from pathlib import Path

from autograder.core.exercise_folder import HIDDEN_REFERENCES, REDRAWS
from autograder.environment.errors import ClassroomError
from autograder.environment.package_folder import PACKAGE_FOLDER

NAME = "fxcourse"
TORCH_CPU = "https://download.pytorch.org/whl/cpu"
"""pip's index of PyTorch without CUDA; the same as in the Makefile."""

_KINDS = frozenset({".py", ".json", ".jsonl", ".html", ".css", ".js", ".svg", ".txt"})
_DATE = (2020, 1, 1, 0, 0, 0)
"""The date of all files, so that the same class gives the same bytes."""


def course_files(left_out: Collection[str] = (), *, hidden: bool = True) -> dict[str, bytes]:
    """The files of the course's package, by their paths in a wheel.

    Args:
        left_out: names of folders to leave out.
        hidden: whether to include hidden cases and debriefs.
    """
    found = {}
    for path in sorted(PACKAGE_FOLDER.rglob("*")):
        parts = path.relative_to(PACKAGE_FOLDER).parts
        if path.suffix not in _KINDS or {"__pycache__", *left_out} & set(parts):
            continue
        if not path.is_file() or (not hidden and path.name in (REDRAWS, HIDDEN_REFERENCES)):
            continue
        name = "/".join(("autograder", *parts))
        found[name] = path.read_bytes() if hidden else _for_students(path, parts)
    return found


def _for_students(path: Path, parts: tuple[str, ...]) -> bytes:
    data = path.read_bytes()
    if path.suffix == ".jsonl":
        lines = data.decode().splitlines(keepends=True)
        # A line with a name alone is about a hidden case.
        return "".join(line for line in lines if len(json.loads(line)) > 1).encode()
    if parts[0] == "lessons" and path.suffix == ".json":
        told = json.loads(data) | {"debriefs": {}}
        return (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode()
    return data


def make_wheel(files: dict[str, bytes], notebooks: Mapping[str, bytes]) -> tuple[str, bytes]:
    """Make a wheel of some files of the course.

    Args:
        files: their contents, by their paths in the wheel.
        notebooks: the contents of the chapters' notebooks, by the names of their files.

    Raises:
        ClassroomError: the course is not installed.

    Returns:
        The name that its file must have, and its content.
    """
    digest = hashlib.sha256()
    for name, text in sorted((files | dict(notebooks)).items()):
        digest.update(name.encode() + b"\0" + text)
    try:
        course = metadata.distribution(NAME)
        # In a clone, the metadata may be in PKG-INFO, in the folder that setuptools creates.
        described = course.read_text("METADATA") or course.read_text("PKG-INFO")
    except metadata.PackageNotFoundError:
        described = None
    if not described:
        raise ClassroomError(f"The course is not installed in this Python as {NAME}.") from None
    # The wheel has its own version, because pip keeps an installed package of the same version.
    version = f"{course.version.partition('+')[0]}+class.{digest.hexdigest()[:10]}"
    described = described.replace(f"\nVersion: {course.version}\n", f"\nVersion: {version}\n", 1)
    info = f"{NAME}-{version}.dist-info"
    data = f"{NAME}-{version}.data/data/share/{NAME}/course"
    files = files | {f"{data}/{name}": text for name, text in notebooks.items()}
    files |= {
        f"{info}/METADATA": described.encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: fxcourse\nRoot-Is-Purelib: true\n"
        b"Tag: py3-none-any\n",
        f"{info}/entry_points.txt": b"[console_scripts]\nfxcourse = autograder.cli.main:main\n",
    }
    rows = [f"{name},sha256={_digest(text)},{len(text)}" for name, text in sorted(files.items())]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    return f"{NAME}-{version}-py3-none-any.whl", zipped(files)


def unpacked(data: bytes) -> dict[str, bytes]:
    """The files of a zip."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip with these files; a script in it is executable."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.external_attr = (0o755 if text.startswith(b"#!") else 0o644) << 16
            archive.writestr(entry, text, zipfile.ZIP_DEFLATED)
    return data.getvalue()


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
