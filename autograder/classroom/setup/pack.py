"""Packs a class for its students in one zip: the course as a wheel, notebooks and requirements.

The wheel is made from the installed course, without solutions, hidden cases, debriefs, the code
that grades a class, and this class's secret. Everything that goes into the zip is searched for
these before the zip is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

import nbformat

from autograder.builder.outputs import lock
from autograder.classroom.room.chapter_names import is_called
from autograder.classroom.room.nbgrader_api import api
from autograder.classroom.setup.wheel import (
    NAME,
    TORCH_CPU,
    course_files,
    make_wheel,
    unpacked,
    zipped,
)
from autograder.core import own_exercises
from autograder.core.exercise_folder import REDRAWS
from autograder.environment.errors import ClassroomError
from autograder.environment.package_folder import PACKAGE_FOLDER
from autograder.workspace import class_wheel

_LEFT_OUT = ("classroom", "boxed", "formats", "hunt", "new_exercise")
"""Packages of the course that learners do not need."""

_NOT_FOR_STUDENTS = (b"BEGIN SOLUTION", b"BEGIN HIDDEN TESTS", b"BEGIN MARK SCHEME")

README = """\
# {title}

1. Install Python 3.11, 3.12 or 3.13, open a terminal in this folder, and make an environment:
   `python -m venv .venv`
2. Activate it: `source .venv/bin/activate`, or on Windows `.venv\\Scripts\\activate`
3. Install the course. No GPU is needed. On Linux, take PyTorch for the CPU (about 1.5 GB):
   `python -m pip install --extra-index-url {cpu} --requirement requirements.txt {wheel}`
   On macOS and Windows (about 1.5 GB), or on Linux with CUDA (6 GB):
   `python -m pip install --requirement requirements.txt {wheel}`
4. `fxcourse doctor` looks whether everything is there, and says what to do if not.
5. `fxcourse lab` opens JupyterLab on the folder `fxcourse` in your home folder. It has these
   notebooks: {notebooks}
6. Work there, not in the copies in `notebooks/`. Write in the answer cells, and add cells as you
   like. You cannot edit check cells. A check cell shows what holds and what does not; "Run all"
   goes on past errors.
7. Save the notebook, and hand in its file: `fxcourse/{first}.ipynb` in your home folder. If you
   rename it, that does no harm.

Your answers are graded on more models than a check cell tries. If you are stuck, or if you do not
agree with a grade, ask your instructor.

**On a JupyterHub** there is nothing to install. Choose *Assignment List* in the menu *Nbgrader*,
then *Fetch*. Answer in the notebook, and *Submit* it there. If something does not work, run
`fxcourse doctor --hub` in a terminal.
"""

PYTHON = "3.11"
"""The Python of images."""

DOCKERFILE = """\
# An image for JupyterHub: docker build --build-arg HUB=VERSION --tag {name} .
# VERSION is the version of your JupyterHub; the two must be the same.
# `fxcourse classroom hub` writes images with nbgrader's lists and the settings of a class.
FROM python:{python}-slim
ARG HUB
ARG TORCH_INDEX={index}
RUN test -n "$HUB" || {{ echo "Give the version of your Hub: --build-arg HUB=VERSION"; exit 1; }}
RUN useradd --create-home --uid 1000 jovyan
COPY requirements.txt {wheel} /tmp/course/
RUN pip install --no-cache-dir --extra-index-url "$TORCH_INDEX" jupyterhub=="$HUB" \
    --requirement /tmp/course/requirements.txt /tmp/course/*.whl
USER jovyan
WORKDIR /home/jovyan
CMD ["jupyterhub-singleuser", "--ip=0.0.0.0"]
"""


def pack(room: Path, path: Path, chapters: Sequence[str] = ()) -> list[str]:
    """Write the zip for the students of a class.

    Args:
        room: the classroom.
        path: the zip; an existing one is replaced.
        chapters: only these chapters, such as ``03``; all released chapters by default.

    Raises:
        ClassroomError: something in it is not for students, or something is missing.

    Returns:
        The names of the notebooks.
    """
    notebooks = _notebooks(room, chapters)
    wheel, data = _wheel_of(room, notebooks)
    secret = _secret(room)
    pins = requirements("learn")
    names = [name.removesuffix(".ipynb") for name in notebooks]
    title = f"The course about torch.fx: {room.name}"
    readme = README.format(
        title=title, wheel=wheel, notebooks=", ".join(names), first=names[0], cpu=TORCH_CPU
    )
    image = DOCKERFILE.format(name=NAME, wheel=wheel, python=PYTHON, index=TORCH_CPU)
    files = {
        "README.md": readme.encode(),
        "requirements.txt": pins.encode(),
        "Dockerfile": image.encode(),
        **{f"notebooks/{name}": text for name, text in notebooks.items()},
    }
    _check_contents(files, secret)
    files[wheel] = data
    path.write_bytes(zipped({f"{room.name}/{name}": text for name, text in files.items()}))
    return names


def released_chapters(room: Path) -> list[str]:
    """The names of a class's released chapters, in order.

    Raises:
        ClassroomError: there are none, or one of them cannot be read.
    """
    return [name.removesuffix(".ipynb") for name in _notebooks(room, ())]


def wheel_of_class(room: Path) -> tuple[str, bytes]:
    """Make the wheel for the students of a class: the name of its file, and its content.

    Raises:
        ClassroomError: something in it is not for students, or something is missing.
    """
    return _wheel_of(room, _notebooks(room, ()))


def requirements(extra: str) -> str:
    """The versions of this environment's packages, as lines for pip.

    Args:
        extra: the extra of the course that needs them, such as ``learn``.

    Raises:
        ClassroomError: the course is not installed.
    """
    try:
        return lock.requirements(extra)
    except metadata.PackageNotFoundError:
        raise ClassroomError(f"The course is not installed in this Python as {NAME}.") from None


def _secret(room: Path) -> str:
    return str(api(room).config.ExecuteChecks.get("secret") or "")


def _wheel_of(room: Path, notebooks: Mapping[str, bytes]) -> tuple[str, bytes]:
    """The wheel for students with these notebooks, after a search for what they must not get."""
    secret, course_id = _secret(room), api(room).coursedir.course_id
    _check_contents(notebooks, secret)
    own = own_exercises.texts_for_students(room / own_exercises.FOLDER)
    name, data = students_wheel(notebooks, own, course_id)
    _check_contents(unpacked(data), secret)
    return name, data


def _notebooks(room: Path, chapters: Sequence[str]) -> dict[str, bytes]:
    """The released notebooks, by the names of their files."""
    found: dict[str, bytes] = {}
    paths = sorted((room / "release").glob("*/*.ipynb"))
    for word in chapters:
        if not any(is_called(path.parent.name, word) for path in paths):
            raise ClassroomError(f"No chapter that was released is called {word}.")
    for path in paths:
        if chapters and not any(is_called(path.parent.name, word) for word in chapters):
            continue
        if path.name in found:
            raise ClassroomError(f"Two released notebooks are called {path.name}.")
        found[path.name] = path.read_bytes()
        try:
            nbformat.reads(found[path.name].decode(), as_version=4)
        except Exception:  # students could not open it, whatever the error
            raise ClassroomError(f"{path} cannot be read as a notebook.") from None
    if not found:
        raise ClassroomError(
            "Nothing was released: run nbgrader generate_assignment CHAPTER first."
        )
    return found


def students_wheel(
    notebooks: Mapping[str, bytes], own: Mapping[str, str] | None = None, course_id: str = ""
) -> tuple[str, bytes]:
    """Make a wheel of the course for learners, with these notebooks as its chapters.

    Args:
        notebooks: their contents, by the names of their files.
        own: texts of the instructor's own exercises; see `own_exercises.texts_for_students`.
        course_id: the class's name in nbgrader.

    Raises:
        ClassroomError: the course is not installed.

    Returns:
        The name that its file must have, and its content.
    """
    files = course_files(_LEFT_OUT, hidden=False)
    for path, source in (own or {}).items():
        files[f"{own_exercises.PACKAGE}/{path}"] = source.encode()
    chapters = (name.removesuffix(".ipynb") for name in notebooks)
    about = class_wheel.FILE.relative_to(PACKAGE_FOLDER.parent).as_posix()
    files[about] = class_wheel.text_of(course_id, chapters).encode()
    return make_wheel(files, notebooks)


def _check_contents(files: Mapping[str, bytes], secret: str) -> None:
    """Search files for contents that students must not get.

    Raises:
        ClassroomError: a file contains some.
    """
    for name, data in files.items():
        if secret and secret.encode() in data:
            raise ClassroomError(f"{name} holds the secret of the class.")
        if name.startswith(f"{own_exercises.PACKAGE}/") and b"hidden=True" in data:
            raise ClassroomError(f"{name} has hidden cases. Move them into {REDRAWS}.")
        if name.endswith(".ipynb") and any(mark in data for mark in _NOT_FOR_STUDENTS):
            raise ClassroomError(f"{name} holds solutions or hidden tests. Release it again.")
