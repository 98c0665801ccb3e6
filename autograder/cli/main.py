"""The command `fxcourse`. Each subcommand imports what it needs when it runs.

`STATUSES` lists the exit statuses; ``fxcourse --help`` prints them.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import platform
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.markup import escape
from typer.models import CommandInfo

from autograder.cli.errors import STOPPED, explained, interruptible
from autograder.cli.grade_one import CANNOT_GRADE, grade_one
from autograder.cli.help_panels import Panels, arrange, name_of
from autograder.cli.hunt_command import hunt
from autograder.cli.sandbox_option import (
    Sandbox,
    SandboxOption,
    refuse_untrusted,
    without_sandbox,
)
from autograder.cli.terminal import Progress, err, out
from autograder.environment import extras
from autograder.environment.characters import accept_every_character
from autograder.environment.errors import ClassroomError
from autograder.environment.versions import issues_page, version_line
from autograder.speed.imports import faster_imports

if TYPE_CHECKING:
    from autograder.builder.problems import BuildRefused
    from autograder.submission.result import Result
    from autograder.workspace.update import Row

UNUSABLE = 2
"""The exit status of a command that lacks something, such as an optional package."""

CRASHED = 70
"""The exit status after an exception that nothing handles: ``EX_SOFTWARE`` of ``sysexits.h``."""

STATUSES = {
    0: "The command did its work.",
    1: "Your input is wrong, or the result is. The message says what to do.",
    UNUSABLE: "The command line is wrong, or something that it names or needs cannot be used.",
    CANNOT_GRADE: "`fxcourse grade-one` cannot grade on this machine, or `fxcourse hunt` itself "
    "failed. There is no result.",
    CRASHED: "The program has a fault. The message says where to report it.",
    STOPPED: "You stopped the command with Ctrl-C.",
}
"""The exit status of every command; ``fxcourse lab`` ends with JupyterLab's own."""

app = typer.Typer(
    help="Learn torch.fx in notebooks, teach a class, test your own passes, maintain the course.",
    epilog="\n".join(["Exit status:", *(f"{code:5}  {text}" for code, text in STATUSES.items())]),
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="CHAPTER", help="Chapters, such as 03_manipulation. Default: all."),
]


def _print_version(wanted: bool) -> None:
    if wanted:
        out.print(version_line())
        raise typer.Exit()


@app.callback()
def fxcourse(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Show the versions of fxcourse, Python and torch, and exit.",
        ),
    ] = False,
) -> None:
    """Define the options of the command itself."""


@app.command()
def build(
    names: Names = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if a generated file differs.")
    ] = False,
) -> None:
    """Generate course/*.ipynb from solutions/*.py, and the pages that are made from code."""
    extras.require("nbgrader")
    from autograder.book import commands_page
    from autograder.builder.outputs import generate
    from autograder.builder.paths import shown
    from autograder.builder.problems import CourseRefused

    try:
        with Progress("Generating") as progress:
            files = generate.generate(names or [], over=progress.over)
        if not names:
            files[commands_page.PAGE] = commands_page.commands_page(all_apps())
            from autograder.book.kind_pages import kind_pages
            from autograder.cli import settings_page

            files |= settings_page.pages() | kind_pages()
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    except FileNotFoundError as error:
        raise _stopped(error) from None
    except CourseRefused as refused:
        _print_refusals("built", refused.refusals)
        raise typer.Exit(1) from None
    _print_what_is_missing(names or [])
    if check:
        _print_minutes(names or [])
        stale = generate.differing(files)
        for path in stale:
            err.print(f"[red]differs[/red]  {escape(shown(path))}")
        if stale:
            err.print("Run 'make build' to generate these files again, and commit the result.")
            raise typer.Exit(1)
        out.print(f"All {len(files)} generated files are up to date.")
        return
    changed, kept = generate.write(files)
    for path in changed:
        out.print(f"{'wrote' if path.exists() else 'removed'}  {escape(shown(path))}")
    for path in kept:
        out.print(f"kept a copy of your work in {escape(path.name)}: {escape(shown(path))}")
    out.print(f"{len(files)} generated files, {len(changed)} changed.")


@app.command()
def solutions(
    names: Names = None,
) -> None:
    """Execute every chapter in solved form, and write the notebooks to build/solutions/."""
    extras.require("nbgrader")
    from autograder.builder.outputs import solved_chapter
    from autograder.builder.paths import choose, shown

    try:
        chosen = choose(names or [])
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    except FileNotFoundError as error:
        raise _stopped(error) from None
    failed = 0
    with Progress("Executing") as progress:
        for path in progress.over(chosen):
            start = time.perf_counter()
            try:
                written = solved_chapter.write_solved(path)
            except solved_chapter.SolvingFailed as error:
                failed += 1
                with progress.paused():
                    err.print(f"[red]failed[/red]  {escape(str(error))}")
            else:
                said = f"every cell succeeded in {time.perf_counter() - start:.1f} s"
                with progress.paused():
                    out.print(f"{path.stem}: {said}: {escape(shown(written))}")
    if failed:
        err.print(f"{failed} of {len(chosen)} chapters failed.")
        raise typer.Exit(1)


@app.command()
def book(
    names: Names = None,
    catalogues: Annotated[
        bool, typer.Option("--catalogues", help="Also write gettext catalogues for a translation.")
    ] = False,
    pages: Annotated[
        bool,
        typer.Option(
            "--pages",
            help="Execute nothing: chapters have headings alone. It takes less than a minute, and "
            "the first page is build/book/pages/html/index.html.",
        ),
    ] = False,
) -> None:
    """Make the book: all chapters with their outputs as pages, in build/book/html/."""
    extras.require(*extras.EXTRAS["book"])
    from autograder.book import making
    from autograder.builder.outputs.solved_chapter import (
        SOLVED,
        SolvingFailed,
        is_current,
        write_solved,
    )
    from autograder.builder.paths import COURSE, choose, shown

    try:
        chosen = choose(names or [])
        start = time.perf_counter()
        home, form, raised = making.WITHOUT_CHAPTERS, COURSE, None
        if not pages:
            with Progress("Executing") as progress:
                for path in progress.over(chosen):
                    if not is_current(path):
                        write_solved(path)
            out.print("Executing the questions ...")
            home, form, raised = making.BOOK, SOLVED, making.what_questions_raise()
            out.print(f"Executing took {time.perf_counter() - start:.0f} s.")
            start = time.perf_counter()
        out.print("Making the pages ...")
        notebooks = [form / f"{path.stem}.ipynb" for path in chosen]
        first = making.make(notebooks, raised, home, jobs=os.cpu_count() or 1)
        out.print(f"Making the pages took {time.perf_counter() - start:.0f} s.")
        if catalogues:
            from autograder.book import catalogue

            count = catalogue.write_all(home)
            out.print(f"{count} messages in {escape(shown(home / 'gettext'))}")
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    except (FileNotFoundError, SolvingFailed, making.CannotMake) as error:
        raise _stopped(error) from None
    out.print(f"The book: {escape(shown(first))}")


@app.command()
def references(
    names: Names = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if one differs.")
    ] = False,
) -> None:
    """Make the reference outputs that answers are compared with, from solutions/*.py."""
    extras.require("nbgrader")
    from autograder.builder.outputs.references import write_all
    from autograder.builder.problems import CourseRefused
    from autograder.judge.references import MissingReference

    try:
        with Progress("Running the solutions") as progress:
            changed = write_all(check_only=check, only=names or (), over=progress.over)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    except (FileNotFoundError, MissingReference) as error:
        raise _stopped(error) from None
    except CourseRefused as refused:
        _print_refusals("written", refused.refusals)
        raise typer.Exit(1) from None
    for exercise in changed:
        out.print(f"{'differs' if check else 'wrote'}  the references of {exercise}")
    if not changed:
        out.print("All reference outputs are up to date.")
    elif check:
        raise typer.Exit(1)


@app.command(context_settings=_PASS_ON)
def lab(
    folder: Annotated[
        str | None,
        typer.Argument(
            metavar="FOLDER",
            help="Your workspace. Default: the one you are in, or the usual one.",
        ),
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Argument(metavar="JUPYTERLAB_OPTION", help="Such as --no-browser or --port 9000."),
    ] = None,
) -> None:
    """Open JupyterLab on your workspace. The first time, this makes the workspace."""
    extras.require("jupyterlab")
    from autograder.workspace import index, update
    from autograder.workspace import lab as jupyter
    from autograder.workspace.given import NoNotebooks

    passed_on = list(options or ())
    if folder is not None and folder.startswith("-"):  # it is an option of JupyterLab
        passed_on.insert(0, folder)
        folder = None
    place = _workspace(folder)
    with explained("Stopped.", update.CannotUpdate, NoNotebooks):
        rows = update.open_workspace(place)
        behind = update.is_behind(place)
    if rows:
        count = "1 notebook" if len(rows) == 1 else f"{len(rows)} notebooks"
        out.print(f"Put {count} into {escape(str(place))}. Your work stays there.")
        _print_rows(rows, only_work=True)
    if behind:
        out.print(
            "The course has changed since your last update. Run 'fxcourse update' to get the "
            "changes. It keeps all of your work."
        )
    out.print(f"Opening JupyterLab on {escape(str(place))}")
    out.print("To stop it, press Ctrl-C in this window, twice.")
    os.environ.update(jupyter.environment(place, _with_scripts_on_path()))
    with contextlib.suppress(OSError):  # the index then shows an earlier state
        index.refresh(place)
    server = subprocess.Popen(jupyter.command(place, passed_on))
    while True:
        try:
            raise typer.Exit(server.wait())
        except KeyboardInterrupt:
            continue  # JupyterLab got it too, asks whether to stop, and ends its kernels


_FOLDER_HELP = (
    "Your workspace, or the folder of an assignment. Default: the one you are in, or the usual "
    "workspace."
)
Folder = Annotated[str | None, typer.Argument(metavar="FOLDER", help=_FOLDER_HELP)]


@app.command()
def update(
    folder: Folder = None,
    earlier: Annotated[
        Path | None,
        typer.Option("--from", help="A folder with your notebooks from an earlier version."),
    ] = None,
) -> None:
    """Update the notebooks in your workspace. Your answers and your own cells are kept."""
    from autograder.workspace import index, location
    from autograder.workspace import update as updating
    from autograder.workspace.given import NoNotebooks

    place = _folder(folder) if earlier is None else _workspace(folder)
    with explained("Stopped.", updating.CannotUpdate, NoNotebooks, OSError):
        rows = updating.update(place, earlier)
    if location.is_workspace(place):
        index.refresh(place)
    _print_rows(rows)
    out.print(f"{escape(str(place))} is up to date. Reload notebooks that are open in JupyterLab.")


@app.command()
def reset(
    chapter: Annotated[str, typer.Argument(metavar="CHAPTER", help="The chapter, such as 03.")],
    exercise: Annotated[
        str, typer.Argument(metavar="EXERCISE", help="The exercise, such as add_to_mul.")
    ],
    workspace: Annotated[
        str | None, typer.Option(help="Your workspace, or the folder of an assignment.")
    ] = None,
) -> None:
    """Empty the answer cell of an exercise. A copy of the notebook keeps your answer."""
    from autograder.workspace import update as updating
    from autograder.workspace.given import NoNotebooks

    place = _folder(workspace)
    with explained("Stopped.", updating.CannotUpdate, NoNotebooks, OSError):
        kept = updating.reset(place, chapter, exercise)
    if kept is None:
        out.print(f"The answer cell of {exercise} is already empty.")
        return
    out.print(f"The answer cell of {exercise} is empty again. Your answer is in the copy {kept}")
    out.print("If the notebook is open in JupyterLab, reload it: File, Reload Notebook from Disk.")


@app.command()
def progress(folder: Folder = None) -> None:
    """Show where to go on, how far you are on each track, and which exercises you have passed."""
    from autograder.cards.overview import exercises_text, head_text
    from autograder.workspace import location
    from autograder.workspace.overview import overview_so_far

    place = Path.cwd()
    if folder is not None:
        place = _workspace(folder)
        if location.is_workspace(place):
            os.environ[location.ENV] = str(place)
        elif not location.is_assignment(place):
            err.print(f"[red]Stopped.[/red] There is no chapter in {escape(str(place))}.")
            raise typer.Exit(1)
    with contextlib.chdir(place):
        overview = overview_so_far()
    *_, go_on = head_text(overview.standing)  # again, because the first lines scroll away
    out.print(escape(f"{overview!r}\n\n{exercises_text(overview.standing)}\n\n{go_on}"))


@app.command()
def watch(
    chapter: Annotated[str, typer.Argument(metavar="CHAPTER", help="The chapter, such as 03.")],
    folder: Folder = None,
    edit_cmd: Annotated[
        str | None,
        typer.Option(
            "--edit-cmd",
            metavar="COMMAND",
            help="Open files in your editor with this command. {file} and {line} are replaced. "
            "Default: in a terminal of VS Code, code -g {file}:{line}.",
        ),
    ] = None,
) -> None:
    """Work in your editor: the exercises of a chapter as files, checked on every save."""
    from autograder.cli.watch import watch_chapter
    from autograder.workspace.given import NoNotebooks
    from autograder.workspace.update import CannotUpdate

    with explained("Stopped.", CannotUpdate, NoNotebooks):
        watch_chapter(chapter, _folder(folder), edit_cmd)


def _folder(named: str | None) -> Path:
    """The workspace or the assignment that a command uses: the notebook at hand comes first."""
    from autograder.workspace import location

    here = Path.cwd()
    return here if named is None and location.is_assignment(here) else _workspace(named)


def _workspace(named: str | None) -> Path:
    """The workspace that a command uses."""
    from autograder.workspace import location

    if named is not None:
        return Path(named).expanduser().resolve()
    return location.current() or location.usual()


def _print_rows(rows: Sequence[Row], *, only_work: bool = False) -> None:
    """Print the changes to the notebooks of a workspace, and the place of earlier ones."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("chapter", no_wrap=True)
    table.add_column("")
    for heading in ("new cells", "removed", "your answers", "your cells"):
        table.add_column(heading, justify="right")
    shown = [r for r in rows if r.answers or r.own or r.kept] if only_work else rows
    for r in shown:
        counts = (r.came, r.went, r.answers, r.own)
        table.add_row(r.name, r.state, *(str(count or "") for count in counts))
    if shown:
        out.print(table)
    for r in rows:
        name = escape(r.name)
        if r.beside:
            cells = "1 cell" if r.beside == 1 else f"{r.beside} cells"
            out.print(
                f"{name}: you and the course both changed {cells}. Your text is below the new one."
            )
        if r.state == "unreadable":
            out.print(
                f"[yellow]{name} cannot be read as a notebook, and was not changed.[/yellow] "
                "Move the file away and run 'fxcourse lab' to get a new one."
            )
        if r.state == "gone":
            more = f"It stays, with {r.own} cells of yours" if r.own else "All of it has moved"
            out.print(f"{name} is no longer a chapter of its own. {more}.")
    kept = [r.kept.parent for r in rows if r.kept]
    if kept:
        out.print(f"Copies of the earlier notebooks: {escape(str(kept[0]))}")


@app.command()
def doctor(
    hub: Annotated[
        bool, typer.Option("--hub", help="Check this server of a JupyterHub instead.")
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="ENVIRONMENT",
            help="Instead, try the course with the PyTorch of this Python environment: a folder, "
            "or its interpreter. Only in a clone of the project.",
        ),
    ] = None,
    part: Annotated[
        str,
        typer.Option(
            help="Parts to try there, with commas between them: private, bugs, questions, answers, "
            "chapters. Default: all, which takes half an hour."
        ),
    ] = "",
) -> None:
    """Check this machine, and explain how to fix problems.

    With --against, it prints a page with all differences between that PyTorch and the course. The
    exit status is 0 if there are none, 1 if there are some, and 2 if nothing could be tried.
    """
    if against is not None:
        raise typer.Exit(_try_against(against, part))
    if part:
        raise typer.BadParameter("'--part' needs '--against ENVIRONMENT'.")
    from autograder.cli import doctor as machine
    from autograder.cli import doctor_hub

    if hub and not doctor_hub.is_on_a_hub():
        out.print(doctor_hub.NOT_HERE)
        raise typer.Exit(1)
    examine = doctor_hub.examine if hub else machine.examine
    out.print(version_line())
    marks = {"ok": "[green]ok    [/green]", "broken": "[red]BROKEN[/red]", "info": "note  "}
    broken = 0
    for finding in examine():
        out.print(f"{marks[finding.state]}  {finding.name}: {escape(finding.says)}")
        if finding.advice:
            out.print(f"        -> {escape(finding.advice)}")
        broken += finding.state == "broken"
    if broken:
        out.print(f"\n{broken} of the checks failed. Fix the first one first.")
        raise typer.Exit(1)
    out.print(f"\nThis {'server' if hub else 'machine'} is ready for the course.")


def _try_against(place: Path, parts: str) -> int:
    """Try the course in another environment; return the exit status."""
    from autograder.cli import doctor_against
    from autograder.version_watch.environment import CannotWatch

    try:
        return doctor_against.run(place, parts, out)
    except CannotWatch as error:
        err.print(f"[red]Nothing was tried.[/red] {escape(str(error))}")
        return doctor_against.UNUSABLE
    except KeyboardInterrupt:
        err.print("Stopped.")
        return STOPPED


def _refuse_no_sandbox(wanted: bool) -> None:
    """Reject the option of earlier versions."""
    if wanted:
        raise typer.BadParameter(f"There is no '--no-sandbox' any more. {without_sandbox()}")


@app.command()
def grade(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The classroom.")],
    chapters: Annotated[
        list[str] | None,
        typer.Argument(metavar="CHAPTER", help="Such as 01 03. Default: all that were released."),
    ] = None,
    student: Annotated[
        list[str] | None, typer.Option(help="Grade only this student. You can repeat it.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "-j",
            "--jobs",
            min=1,
            help="Submissions to grade at the same time. Default: one per core.",
        ),
    ] = None,
    sandbox: SandboxOption = Sandbox.AUTO,
    trusts: Annotated[
        bool,
        typer.Option(
            "--i-trust-these-students",
            help="Allow --sandbox none. A student's cell can then read the class's secret and the "
            "gradebook.",
        ),
    ] = False,
    _: Annotated[
        bool,
        typer.Option(
            "--no-sandbox",
            hidden=True,
            is_eager=True,
            callback=_refuse_no_sandbox,
            help="Stop, and say which options replace this one.",
        ),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also grade again what has not changed.")
    ] = False,
    db: Annotated[
        str | None, typer.Option(help="Use another gradebook: postgresql://USER@HOST/NAME.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="Grade on the workers of a Dask scheduler: tcp://HOST:8786."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show which scores would change. Write nothing.")
    ] = False,
) -> None:
    """Grade the submissions of a class. If you stop it, the same command continues."""
    refuse_untrusted(sandbox, trusts=trusts)
    extras.require("nbgrader")
    os.environ.update(_with_scripts_on_path())
    with (
        interruptible("Nothing was graded."),
        explained("Nothing was graded.", ImportError),
        out.status("Getting ready"),
        faster_imports(),
    ):
        from autograder.classroom.grading import grade_class
        from autograder.cli import grading_progress
    words = [word.strip() for text in chapters or () for word in text.split(",") if word.strip()]
    options = grade_class.GradingOptions(
        words or None, student, jobs or os.cpu_count() or 1, sandbox.value, force, db, cluster,
        dry_run=dry_run,
    )  # fmt: skip
    with (
        interruptible("Graded submissions are kept. The same command continues from here."),
        explained("Grading stopped.", grade_class.NoBox),
        grading_progress.Watch(out) as watch,
    ):
        listener = grade_class.Listener(watch.tell, watch.warn, watch.expect)
        summary = grade_class.grade_class(folder, options, listener)
    grading_progress.print_summary(summary, out)
    if dry_run:
        grading_progress.print_changes(summary, out)
    else:
        _report_on(folder, db, summary.results)
    if summary.unwritten:
        raise typer.Exit(1)


app.command("grade-one")(grade_one)


def _report_on(folder: Path, db: str | None, results: Sequence[Result]) -> None:
    """Write the report of a graded class, and print the time that this took."""
    from autograder.classroom.reports.class_report import make

    start = time.perf_counter()
    try:
        path = make.report(folder, db_url=db, results=results)
    except ClassroomError as error:
        err.print(f"[red]There is no report.[/red] {escape(str(error))}")
        return
    seconds = time.perf_counter() - start
    out.print(f"The report, made in {seconds:.1f} s: {escape(str(path))}")


app.command()(hunt)


@app.command("new-exercise")
def new_exercise(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="The classroom. With --course: a chapter, such as 03."),
    ],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The name of the learner's function.")
    ],
    course: Annotated[
        bool,
        typer.Option("--course", help="Write it into a chapter of the course, in a clone of it."),
    ] = False,
) -> None:
    """Write an exercise of your own into a classroom, or test the one that is there."""
    extras.require("nbgrader")
    if course:
        _write_for_course(str(folder), name)
        return
    os.environ.update(_with_scripts_on_path())
    from autograder.new_exercise import trying, write

    room = folder.expanduser().resolve()
    with explained("Stopped.", trying.DoesNotWork):
        if not write.folder_of(room, name).exists():
            home = write.write(room, name)
            out.print(f"Wrote {escape(str(home))}: an exercise that works. Change it to yours.")
        exercise = trying.load(room, name)
        meant = True
        for one in trying.tried(room, exercise):
            mark = "[green]ok   [/green]" if one.as_meant else "[red]WRONG[/red]"
            kind = "right" if one.right else "wrong"
            out.print(f"{mark}  {kind}: {escape(one.answer)}: {escape(one.said)}")
            meant &= one.as_meant
        source = write.write_source(room, exercise)
    if not meant:
        err.print("The check judges some answers wrongly. Fix the exercise, or answers.py.")
        raise typer.Exit(1)
    out.print(f"The check judges all answers rightly. The notebook: {escape(str(source))}")
    where = f"nbgrader generate_assignment {escape(exercise.chapter)}"
    out.print(f"To hand it out, run this in {escape(str(room))}: {where}")


def _write_for_course(chapter: str, name: str) -> None:
    """Write an exercise into a chapter of the course, and print the next steps."""
    from autograder.builder.paths import shown
    from autograder.new_exercise import course

    with explained("Nothing was written."):
        exercise = course.plan(chapter, name)
        course.write(exercise)
    out.print(f"Wrote exercise {exercise.number} of chapter {exercise.chapter}. It works:")
    for path in (*exercise.folders, *exercise.changed):
        out.print(f"  {escape(shown(path))}")
    out.print("Now:")
    for number, step in enumerate(course.next_steps(exercise), 1):
        out.print(f"{number}. {escape(step)}")
    out.print("Each file is explained in docs/contributing/exercise.md.")


def _pass_on(name: str, module: str, help: str) -> None:
    """Mount the typer app of another module, and import it only when it is called."""

    def run(context: typer.Context) -> None:
        os.environ.update(_with_scripts_on_path())
        try:
            importlib.import_module(module).app(context.args, prog_name=f"fxcourse {name}")
        except ModuleNotFoundError:
            extras.require("nbgrader")  # name the extra for classes, not the missing package
            raise

    app.command(name, help=help, add_help_option=False, context_settings=_PASS_ON)(run)


_pass_on("classroom", "autograder.cli.classroom", "Make and run a class.")

PANELS: Panels = {
    "Learn": {
        "lab": "fxcourse lab",
        "update": "fxcourse update",
        "progress": "fxcourse progress",
        "reset": "fxcourse reset 03 add_to_mul",
        "watch": "fxcourse watch 03",
        "doctor": "fxcourse doctor",
    },
    "Teach": {
        "classroom": "fxcourse classroom create my_class --chapters 01,03",
        "grade": "fxcourse grade my_class 03 --dry-run",
        "grade-one": "fxcourse grade-one 03_manipulation.ipynb --bundle bundle.json",
        "new-exercise": "fxcourse new-exercise my_class count_relus",
    },
    "Test passes": {"hunt": "fxcourse hunt my_passes.py:fold --models 1000 --save tests"},
    "Maintain": {
        "build": "fxcourse build 03_manipulation",
        "solutions": "fxcourse solutions 03_manipulation",
        "references": "fxcourse references --check",
        "book": "fxcourse book",
    },
}
"""The order of the commands in `fxcourse --help`, and an example for each."""

_HERE = Path(__file__).parents[1]
_NEEDED = {
    "classroom": _HERE / "classroom",
    "grade": _HERE / "classroom",
    "grade-one": _HERE / "classroom",
    "hunt": _HERE / "hunt",
    "new-exercise": _HERE / "new_exercise",
    **dict.fromkeys(PANELS["Maintain"], _HERE.parent / "solutions"),
}
"""The folder that a command needs. `fxcourse classroom pack` leaves some of them out for students,
and only a clone has the chapters' sources."""


def _is_available(name: str) -> bool:
    """Whether this copy of the course contains the folder that a command needs."""
    return name not in _NEEDED or _NEEDED[name].is_dir()


def _replace(info: CommandInfo) -> None:
    """Hide a command that is not available, and let it end with a sentence."""
    name = name_of(info)
    has = "only a clone of the project has it"
    has = has if name in PANELS["Maintain"] else "it was made for the students of a class"

    def stop() -> None:
        err.print(f"This installation has no 'fxcourse {name}': {has}.")
        raise typer.Exit(UNUSABLE)

    info.name, info.callback, info.hidden = name, stop, True
    info.add_help_option, info.context_settings = False, _PASS_ON


arrange(app, PANELS)
for _info in app.registered_commands:
    if not _is_available(name_of(_info)):
        _replace(_info)


def all_apps() -> dict[str, typer.Typer]:
    """The apps of this command line, by the words that call them."""
    from autograder.cli import classroom

    return {"fxcourse": app, "fxcourse classroom": classroom.app}


def _stopped(error: Exception) -> typer.Exit:
    """Print the reason why a command cannot continue."""
    err.print(f"[red]Stopped.[/red] {escape(str(error))}")
    return typer.Exit(1)


def _print_refusals(done: str, refusals: tuple[BuildRefused, ...]) -> None:
    from autograder.builder.paths import shown

    for refusal in refusals:
        for problem in refusal.problems:
            place = f"{shown(refusal.path)}:{problem.line}:"
            err.print(f"[bold]{escape(place)}[/bold] {escape(problem.message)}")
            err.print(f"        -> {escape(problem.advice)}")
    count = sum(len(refusal.problems) for refusal in refusals)
    err.print(f"\nNothing was {done}: {count} problem{'s' if count > 1 else ''} to fix.")


def _print_what_is_missing(names: list[str]) -> None:
    """Print the exercises without a debrief, and the parts that are missing."""
    from autograder.builder.outputs.generate import without_debrief

    missing = without_debrief(names)
    if missing:
        have = "exercise has" if len(missing) == 1 else "exercises have"
        out.print(f"{len(missing)} {have} no debrief: {', '.join(missing)}.")


def _print_minutes(names: list[str]) -> None:
    """Print the minutes that each chapter takes."""
    from rich.table import Table

    from autograder.builder.card_headings import found_exercises
    from autograder.builder.minutes import effort
    from autograder.builder.paths import choose
    from autograder.builder.source import read

    table = Table("chapter", box=None, padding=(0, 2, 0, 0))
    for heading in (
        "words",
        "code lines",
        "exercises, minutes",
        "doing, minutes",
        "total, minutes",
    ):
        table.add_column(heading, justify="right")
    for path in choose(names):
        found = effort(read(path)[0], found_exercises(path.stem))
        figures = (found.words, found.lines, found.exercises, found.doing, found.minutes)
        table.add_row(path.stem, *map(str, figures))
    out.print(table)


def _with_scripts_on_path() -> dict[str, str]:
    """The environment with this Python's commands first on the PATH: nbgrader calls `alembic`."""
    scripts = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": scripts + os.pathsep + os.environ.get("PATH", "")}


def main() -> None:
    """Run the command. After Ctrl-C, end at once."""
    accept_every_character(sys.stdout, sys.stderr)
    try:
        app(prog_name="fxcourse")
    except SystemExit as end:
        if end.code == STOPPED:
            _leave_at_once()
        raise
    except KeyboardInterrupt:
        _leave_at_once()
    except BaseException as error:
        if isinstance(error, ImportError) and (advice := extras.advice(error)):
            err.print(advice, markup=False)
            sys.exit(UNUSABLE)
        _print_crash(error)
        sys.exit(CRASHED)


def _leave_at_once() -> NoReturn:
    """End the process without PyTorch's cleanup, which takes seconds."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(STOPPED)


def _print_crash(error: BaseException) -> None:
    """Print that the program has a fault, where to report it, and the text for the report."""
    err.print(
        "[red]This command crashed.[/red] It is a fault of the program, not yours. "
        f"Please report it at {escape(issues_page())}, with the command that you ran and all "
        "of the text below. Remove private names from it first.",
    )
    err.print(f"{version_line()}, {platform.platform()}", markup=False)
    err.print("".join(traceback.format_exception(error)), markup=False)


if __name__ == "__main__":
    main()
