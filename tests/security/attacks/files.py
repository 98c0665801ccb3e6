"""Files that are submitted with a notebook, or instead of one."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

from tests.security.attacks import DUE, GRADED, HONEST, REFUSED, RIGHT, SUSPECT, Attack

NOTEBOOK = "03_manipulation.ipynb"
KEPT = "It is not taken for the package; the right answer keeps its points."
EITHER = GRADED | REFUSED


def _replaced(folder: Path) -> Path:
    path = folder / NOTEBOOK
    path.unlink()
    return path


def _link(*targets: str) -> object:
    def place(folder: Path) -> None:
        for number, target in enumerate(targets):
            (folder / f"data-{number}.txt").symlink_to(target)

    return place


def _linked_notebook(folder: Path) -> None:
    path = _replaced(folder)
    others = folder.parents[1] / HONEST[0] / folder.name / NOTEBOOK
    path.symlink_to(os.path.relpath(others, folder))


def _pipe_beside(folder: Path) -> None:
    os.mkfifo(folder / "data.txt")
    os.mkfifo(folder / "timestamp.txt")


def _linked_folder(folder: Path) -> None:
    """Make the chapter's folder a link to the folder of an honest student."""
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.symlink_to(Path("..") / HONEST[0] / folder.name, target_is_directory=True)


def _deep(folder: Path) -> None:
    for _ in range(60):
        folder = folder / ("d" * 60)
        folder.mkdir()
    (folder / "torch.py").write_text("raise SystemExit")


def _odd_names(folder: Path) -> None:
    for name in ("..%2f..%2fx", "a\nb.txt", "-rf", "$(touch x)", "*", "{x}", "%s", "x" * 250,
                 "\u202etxt.exe", "gradebook.db", "nbgrader_config.py", ".git"):  # fmt: skip
        (folder / name).write_text("x")
    (Path(os.fsencode(folder).decode()) / os.fsdecode(b"\xff\xfe.txt")).write_text("x")


def _bomb() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../../fxcourse-pwned-zip", "x")
        archive.writestr("zeros", bytes(200_000_000))
    return file.getvalue()


def _module(effect: str = "raise SystemExit") -> str:
    return f"open('/tmp/fxcourse-pwned-module', 'w').write('x')\n{effect}\n"


def _shadow(name: str, tries: str, *files: str, text: str = "", **more: object) -> Attack:
    extra_files = {file: text or _module() for file in files}
    return Attack(
        name, tries, more.pop("must", KEPT), more.pop("cell", ""), answers=RIGHT, earns=DUE,
        extra_files=extra_files, states=more.pop("states", GRADED), **more,
    )  # fmt: skip


def _file(name: str, tries: str, place: object, must: str, **more: object) -> Attack:
    return Attack(name, tries, must, place=place, states=more.pop("states", EITHER), **more)


def _below_its_name(folder: Path) -> None:
    """Put the notebook into a folder with the notebook's name."""
    data = (folder / NOTEBOOK).read_bytes()
    _replaced(folder)
    (folder / NOTEBOOK).mkdir()
    (folder / NOTEBOOK / "data.txt").write_bytes(b"x")
    (folder / "below").mkdir()
    (folder / "below" / NOTEBOOK).write_bytes(data)


def _long(folder: Path) -> None:
    """Make a path that fits here, and is too long in other folders of the class."""
    path = folder
    while len(str(path)) < 3_700:
        path = path / ("y" * 200)
    path.mkdir(parents=True)
    (path / "data.txt").write_text("x")


def _in_the_way(folder: Path) -> None:
    """Make folders whose names the course, or its renaming, may want for files."""
    for name in ("timestamp.txt", "page.html.txt", "TIMESTAMP.TXT"):
        (folder / name).mkdir()
        (folder / name / "x").write_text("x")
    (folder / "page.html").write_text("<script>FXPAGE()</script>")


READ = "print('LOOT' if open('data-0.txt').read() else '')"

ATTACKS = [
    _shadow(
        "files-torch",
        "`torch.py` and `numpy.py` stand beside the notebook.",
        "torch.py",
        "numpy.py",
        "torchvision.py",
        text="raise SystemExit",
        stock=True,
    ),
    _shadow(
        "files-autograder",
        "A package `autograder` beside the notebook gives full marks.",
        "autograder/__init__.py",
        "autograder/judge.py",
        "autograder/outcome.py",
        text=_module("check = grade = hint = draw = progress = lambda *a, **k: 6.0"),
    ),
    _shadow(
        "files-standard-library",
        "Modules of the standard library stand beside the notebook.",
        "json.py",
        "socket.py",
        "struct.py",
        "ast.py",
        "random.py",
        "signal.py",
        "typing.py",
    ),
    _shadow(
        "files-site",
        "`sitecustomize`, `usercustomize` and `.pth` files stand beside it.",
        "sitecustomize.py",
        "usercustomize.py",
        "x.pth",
        "pyvenv.cfg",
        "python3._pth",
    ),
    _shadow(
        "files-timestamp-unreadable",
        "`timestamp.txt` is no time at all, and large.",
        "timestamp.txt",
        text="99999-99-99 <script>\n" * 10_000,
        must="A time that cannot be read harms nobody.",
    ),
    Attack(
        "files-link-outside",
        "A data file is a link to a file of the system.",
        "No such content gets into what is graded or given back.",
        READ,
        place=_link("/etc/passwd", "/proc/self/environ", "/dev/zero"),
        states=EITHER,
    ),
    Attack(
        "files-link-classroom",
        "Data files are links to the gradebook, sources and settings.",
        "No such content gets into what is graded or given back.",
        READ,
        place=_link(
            "../../../gradebook.db",
            "../../../source/03_manipulation/03_manipulation.ipynb",
            "../../../nbgrader_config.py",
            f"../../{HONEST[0]}",
        ),
        states=EITHER,
    ),
    _file(
        "files-notebook-link",
        "The notebook is a link to that of an honest student.",
        _linked_notebook,
        "It is refused: a link is no work.",
        states=REFUSED | GRADED,
    ),
    _file(
        "files-folder-link",
        "The folder is a link to that of an honest student.",
        _linked_folder,
        "It is refused: a link is no work.",
        states=REFUSED | GRADED,
    ),
    _file(
        "files-pipe",
        "The notebook is a pipe, from which reading never ends.",
        lambda folder: os.mkfifo(_replaced(folder)),
        "It is refused; nobody waits for it.",
    ),
    _file(
        "files-pipe-beside",
        "Files beside the notebook, its time too, are pipes.",
        _pipe_beside,
        "They are left out or refused; nobody waits for them.",
    ),
    _file(
        "files-folder",
        "The notebook is a folder.",
        lambda folder: _replaced(folder).mkdir(),
        "It is unreadable, and earns nothing.",
    ),
    _file(
        "files-sparse-notebook",
        "The notebook is 2 GB of zeros.",
        lambda folder: os.truncate(folder / NOTEBOOK, 2 * 1024**3),
        "It is refused.",
    ),
    _file(
        "files-deep",
        "Folders lie within folders, deeper than a path may be long.",
        _deep,
        "They are refused or left out.",
    ),
    _file(
        "files-names",
        "Files have names that shells, globs, formats and terminals act on.",
        _odd_names,
        "They are data, or refused.",
        answers=RIGHT,
        may=DUE,
    ),
    _file(
        "files-name-of-the-notebook",
        "A folder is called like the notebook, which lies one folder further down.",
        _below_its_name,
        "It is found or refused, and the class is graded.",
        answers=RIGHT,
        may=DUE,
    ),
    _file(
        "files-long",
        "A path is so long that it fits into no other folder.",
        _long,
        "It is left out.",
        answers=RIGHT,
        earns=DUE,
    ),
    _file(
        "files-in-the-way",
        "Folders have the names of files that grading writes.",
        _in_the_way,
        "They are left out; the right answer keeps its points.",
        answers=RIGHT,
        earns=DUE,
    ),
    _shadow(
        "files-pages",
        "Pages of many kinds lie beside the notebook.",
        "a.xpdl",
        "b.rdf",
        "c.wsdl",
        "d.xhtml",
        "e.svg",
        "f.html",
        "g.js",
        "h",
        text="<html xmlns='http://www.w3.org/1999/xhtml'><script>FXPAGE()</script></html>",
        must="They are kept as text; the right answer keeps its points.",
    ),
    Attack(
        "files-zip",
        "A zip file holds 200 MB of zeros, and a path that leads out.",
        "Nobody unpacks it.",
        answers=RIGHT,
        earns=DUE,
        place=lambda folder: (folder / "data.zip").write_bytes(_bomb()),
    ),
    Attack(
        "files-missing",
        "There is no notebook, only one with another name.",
        "It is known by its cells, and a line says so.",
        answers=RIGHT,
        earns=DUE,
        place=lambda folder: (folder / NOTEBOOK).rename(folder / "Untitled.ipynb"),
    ),
    Attack(
        "files-id-dots",
        "The student's id looks like a path.",
        "It is refused or harmless.",
        student="..-..-source",
        answers=RIGHT,
        may=DUE,
        states=SUSPECT | REFUSED,
    ),
    Attack(
        "files-id-pattern",
        "The student's id is a pattern that fits every student.",
        "Nobody else's work is graded in its name.",
        student="[a-z]*",
        states=SUSPECT | REFUSED,
    ),
    Attack(
        "files-name-page",
        "The student's name, as the gradebook has it, is a piece of a page.",
        "It is text on every page; the right answer keeps its points.",
        answers=RIGHT,
        earns=DUE,
        called=("<img src=x onerror=FXPAGE()>", "<script>FXPAGE()</script>"),
    ),
]
