"""The command `fxcourse`. Each sub-command imports what it needs when it runs."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from autograder.core.quick_imports import quick_imports

if TYPE_CHECKING:
    from autograder.builder.problems import BuildRefused, Problem
    from autograder.builder.source import Chapter
    from autograder.submission.result import Result
    from autograder.workspace.update import Row

app = typer.Typer(
    help="The course about torch.fx: build it, open it, check your machine, grade a class.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
STOPPED = 130
"""The exit status of a command that was stopped with Ctrl-C."""

out = Console(soft_wrap=True, highlight=False)
err = Console(soft_wrap=True, highlight=False, stderr=True)

_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


Names = Annotated[
    list[str] | None, typer.Argument(help="Chapters such as 03_manipulation; all by default.")
]


@app.command()
def build(
    names: Names = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if a generated file differs.")
    ] = False,
) -> None:
    """Generate course/*.ipynb from solutions/*.py, and environment.yml from pyproject.toml."""
    from autograder.builder import generate
    from autograder.builder.paths import shown
    from autograder.builder.problems import CourseRefused

    try:
        files = generate.generate(names or [])
        if not names:
            from autograder.classroom import settings_page

            files |= settings_page.pages()
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    except FileNotFoundError as error:
        raise _stopped(error) from None
    except CourseRefused as refused:
        _print_refusals("built", refused.refusals)
        raise typer.Exit(1) from None
    _print_what_is_missing(names or [])
    if check:
        _print_english(names or [])
        _print_statements(names or [])
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
        out.print(f"kept a copy of the work in {escape(path.name)}: {escape(shown(path))}")
    out.print(f"{len(files)} generated files, {len(changed)} changed.")


@app.command()
def solutions(
    names: Names = None,
) -> None:
    """Execute every chapter in solved form, and write the notebooks to build/solutions/."""
    from autograder.builder import solved_chapter
    from autograder.builder.paths import choose, shown

    try:
        chosen = choose(names or [])
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    except FileNotFoundError as error:
        raise _stopped(error) from None
    failed = 0
    for path in chosen:
        out.print(f"{path.stem}: running every cell ...")
        start = time.perf_counter()
        try:
            written = solved_chapter.write_solved(path)
        except solved_chapter.SolvingFailed as error:
            failed += 1
            err.print(f"[red]failed[/red]  {escape(str(error))}")
        else:
            seconds = time.perf_counter() - start
            place = escape(shown(written))
            out.print(f"{path.stem}: every cell succeeded in {seconds:.1f} s: {place}")
    if failed:
        err.print(f"{failed} of {len(chosen)} chapters failed.")
        raise typer.Exit(1)


@app.command()
def book(
    names: Names = None,
    catalogues: Annotated[
        bool, typer.Option("--catalogues", help="Write gettext catalogues for a translation, too.")
    ] = False,
) -> None:
    """Make the book: all chapters with their outputs as pages, in build/book/html/."""
    from autograder.book import making
    from autograder.builder.paths import choose, shown
    from autograder.builder.solved_chapter import SOLVED, SolvingFailed, is_current, write_solved

    try:
        chosen = choose(names or [])
        making.demand_tools()
        start = time.perf_counter()
        for path in chosen:
            if not is_current(path):
                out.print(f"{path.stem}: running every cell ...")
                write_solved(path)
        raised = making.what_questions_raise()
        out.print(f"Executing took {time.perf_counter() - start:.0f} s.")
        start = time.perf_counter()
        solved = [SOLVED / f"{path.stem}.ipynb" for path in chosen]
        first = making.make(solved, raised, jobs=os.cpu_count() or 1)
        out.print(f"Making the pages took {time.perf_counter() - start:.0f} s.")
        if catalogues:
            from autograder.book import catalogue

            count = catalogue.write_all(making.BOOK)
            out.print(f"{count} messages in {escape(shown(making.BOOK / 'gettext'))}")
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
    """Make the reference outputs that answers are held against, from solutions/*.py."""
    from autograder.builder.generate_references import write_all
    from autograder.builder.problems import CourseRefused
    from autograder.judge.references import MissingReference

    try:
        changed = write_all(check_only=check, only=names or ())
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
def lab(context: typer.Context) -> None:
    """Open JupyterLab on your workspace: fxcourse lab [FOLDER] [OPTIONS OF JUPYTERLAB]."""
    from autograder.workspace import index, update
    from autograder.workspace import lab as jupyter
    from autograder.workspace.given import INDEX, NoNotebooks

    options = list(context.args)
    named = options.pop(0) if options and not options[0].startswith("-") else None
    folder = _workspace(named)
    try:
        rows = update.open_workspace(folder)
        behind = update.is_behind(folder)
    except (update.CannotUpdate, NoNotebooks) as error:
        raise _stopped(error) from None
    if rows:
        out.print(f"Put {len(rows)} notebooks into {escape(str(folder))}. Your work stays there.")
        _print_rows(rows, only_work=True)
    if behind:
        out.print(
            "The course has changed since. Run 'fxcourse update': it brings what is new, and "
            "keeps all that you have done."
        )
    out.print(f"Opening JupyterLab on {escape(str(folder))}")
    out.print("To stop it, press Ctrl-C in this window, twice.")
    os.environ.update(jupyter.environment(folder, _with_scripts_on_path()))
    if not (folder / f"{INDEX}.ipynb").exists():
        index.refresh(folder)
    server = subprocess.Popen(jupyter.command(folder, options))
    try:
        index.refresh(folder)  # while the server starts
    except (OSError, KeyboardInterrupt):
        pass  # it shows what it showed the last time
    while True:
        try:
            raise typer.Exit(server.wait())
        except KeyboardInterrupt:
            continue  # JupyterLab got it too, asks whether to stop, and ends its kernels


Workspace = Annotated[
    str | None,
    typer.Argument(help="The workspace. By default the one you are in, or the usual one."),
]


@app.command()
def update(
    folder: Workspace = None,
    earlier: Annotated[
        Path | None,
        typer.Option("--from", help="A folder with your notebooks of an earlier version."),
    ] = None,
) -> None:
    """Bring your workspace up to date. Your answers and your own cells come along."""
    from autograder.workspace import index
    from autograder.workspace import update as updating
    from autograder.workspace.given import NoNotebooks

    place = _workspace(folder)
    try:
        rows = updating.update(place, earlier)
    except (updating.CannotUpdate, NoNotebooks) as error:
        raise _stopped(error) from None
    index.refresh(place)
    _print_rows(rows)
    out.print(f"{escape(str(place))} is up to date. Reload notebooks that are open in JupyterLab.")


@app.command()
def reset(
    chapter: Annotated[str, typer.Argument(help="The chapter, such as 03.")],
    exercise: Annotated[str, typer.Argument(help="The exercise, such as add_to_mul.")],
    workspace: Annotated[str | None, typer.Option(help="The workspace.")] = None,
) -> None:
    """Bring back the empty answer cell of an exercise. Your answer is kept in a copy."""
    from autograder.workspace import update as updating

    place = _workspace(workspace)
    try:
        kept = updating.reset(place, chapter, exercise)
    except updating.CannotUpdate as error:
        raise _stopped(error) from None
    if kept is None:
        out.print(f"The answer cell of {exercise} is as it was given out.")
        return
    out.print(f"The answer cell of {exercise} is empty again. The notebook as it was: {kept}")
    out.print("If the notebook is open in JupyterLab, reload it: File, Reload Notebook from Disk.")


@app.command()
def progress(workspace: Workspace = None) -> None:
    """Show which exercises you have passed, and where to go on."""
    from autograder import workspace_root

    if workspace is not None:
        os.environ[workspace_root.ENV] = str(_workspace(workspace))
    from autograder.api import progress_so_far

    out.print(escape(repr(progress_so_far())))


@app.command()
def watch(
    chapter: Annotated[str, typer.Argument(help="The chapter, such as 03.")],
    folder: Workspace = None,
) -> None:
    """Work in your editor: a chapter's exercises as Python files, checked on every save."""
    from autograder.watch import command
    from autograder.workspace.given import NoNotebooks
    from autograder.workspace.update import CannotUpdate

    try:
        command.watch(chapter, _workspace(folder))
    except (CannotUpdate, NoNotebooks) as error:
        raise _stopped(error) from None


def _workspace(named: str | None) -> Path:
    """The workspace that a command is about."""
    from autograder import workspace_root

    if named is not None:
        return Path(named).expanduser().resolve()
    return workspace_root.current() or workspace_root.usual()


def _print_rows(rows: Sequence[Row], *, only_work: bool = False) -> None:
    """What became of the notebooks of a workspace, and where earlier ones are kept."""
    from rich.table import Table

    table = Table("chapter", "", box=None, padding=(0, 2, 0, 0))
    for heading in ("new cells", "cells gone", "your answers", "your cells"):
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
            cells = "cell was" if r.beside == 1 else "cells were"
            out.print(
                f"{name}: {r.beside} {cells} changed by you and by the course. What you wrote "
                "is below the new text."
            )
        if r.state == "unreadable":
            out.print(
                f"[yellow]{name} cannot be read as a notebook, and was left as it is.[/yellow] "
                "Move the file away and run 'fxcourse lab' to get a new one."
            )
        if r.state == "gone":
            more = f"it stays, with {r.own} cells of yours" if r.own else "all of it has moved"
            out.print(f"{name} is no longer a chapter of its own: {more}.")
    kept = [r.kept.parent for r in rows if r.kept]
    if kept:
        out.print(f"As they were before: {escape(str(kept[0]))}")


@app.command()
def doctor() -> None:
    """Check this machine, and say how to mend what is broken."""
    from autograder.doctor import examine

    marks = {"ok": "[green]ok    [/green]", "broken": "[red]BROKEN[/red]", "info": "note  "}
    broken = 0
    for finding in examine():
        out.print(f"{marks[finding.state]}  {finding.name}: {escape(finding.says)}")
        if finding.mend:
            out.print(f"        -> {escape(finding.mend)}")
        broken += finding.state == "broken"
    if broken:
        out.print(f"\n{broken} of the checks failed. Mend the first one first.")
        raise typer.Exit(1)
    out.print("\nThis machine is ready for the course.")


@app.command()
def grade(
    folder: Annotated[Path, typer.Argument(help="The classroom.")],
    chapters: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CHAPTER]...", help="Such as 01 03; all that were released."),
    ] = None,
    student: Annotated[
        list[str] | None, typer.Option(help="Only this student; may be given several times.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", min=1, help="Submissions at a time; one a core.")
    ] = None,
    sandbox: Annotated[
        bool,
        typer.Option(help="Run students' code in a box. Without, it can do what you can do."),
    ] = True,
    force: Annotated[
        bool, typer.Option("--force", help="Grade again what was graded and has not changed.")
    ] = False,
    db: Annotated[
        str | None, typer.Option(help="Another gradebook, such as postgresql://USER@HOST/NAME.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="A Dask scheduler whose workers grade: tcp://HOST:8786.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show whose score would change; write nothing.")
    ] = False,
) -> None:
    """Grade what a class has handed in. Stopped at any moment, it goes on where it was."""
    os.environ.update(_with_scripts_on_path())
    try:
        with out.status("Getting ready"):
            if sandbox and not cluster:
                from autograder.sandbox.client import start_ahead

                start_ahead()
            with quick_imports():
                from autograder.classroom import grade_class, progress_report
    except ImportError as error:
        err.print(f"[red]Nothing was graded.[/red] {escape(str(error))}")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        err.print("Stopped. Nothing was graded.")
        raise typer.Exit(STOPPED) from None
    words = [word.strip() for text in chapters or () for word in text.split(",") if word.strip()]
    try:
        with progress_report.Watch(out) as watch:
            summary = grade_class.grade_class(
                folder, words or None, students=student, jobs=jobs or os.cpu_count() or 1,
                sandbox=sandbox, force=force, db_url=db, cluster=cluster, say=watch.tell,
                dry_run=dry_run, warn=watch.warn, expect=watch.expect,
            )  # fmt: skip
    except (grade_class.CannotGrade, grade_class.NoBox) as error:
        err.print(f"[red]Grading stopped.[/red] {escape(str(error))}")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        err.print("Stopped. What is graded is kept; the same command goes on from here.")
        raise typer.Exit(STOPPED) from None
    progress_report.print_summary(summary, out)
    if dry_run:
        progress_report.print_changes(summary, out)
    else:
        _report_on(folder, db, summary.results)


def _report_on(folder: Path, db: str | None, results: Sequence[Result]) -> None:
    """Write the report of a class that was graded, and say how long that took."""
    from autograder.classroom.class_report import make

    start = time.perf_counter()
    try:
        path = make.report(folder, db_url=db, results=results)
    except make.CannotReport as error:
        err.print(f"[red]There is no report.[/red] {escape(str(error))}")
        return
    seconds = time.perf_counter() - start
    out.print(f"The report, made in {seconds:.1f} s: {escape(str(path))}")


@app.command()
def hunt(
    words: Annotated[
        str,
        typer.Argument(metavar="MODULE:PASS", help="Your pass: my_passes:fold, or file.py:fold."),
    ],
    oracle: Annotated[
        str, typer.Option(metavar="MODULE:FUNCTION", help="What must come out; the model itself.")
    ] = "",
    given: Annotated[
        str, typer.Option(help="What the pass is given: trace, model, program or aten.")
    ] = "trace",
    models: Annotated[int, typer.Option("-n", "--models", min=1, help="How many models.")] = 500,
    seed: Annotated[int, typer.Option(help="Where to begin.")] = 0,
    kinds: Annotated[
        str, typer.Option(help="Kinds of models, with commas between; `all`; `help` lists them.")
    ] = "",
    ignore: Annotated[
        str,
        typer.Option(help="What it may change: gradients, arguments, keywords, modes, state."),
    ] = "",
    eval_only: Annotated[
        bool, typer.Option("--eval", help="No model is in training mode.")
    ] = False,
    enough: Annotated[
        int, typer.Option(min=1, help="Stop after so many different counterexamples.")
    ] = 3,
    html: Annotated[Path | None, typer.Option(help="Write the card to this file.")] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the smallest model to this file, as a test.")
    ] = None,
) -> None:
    """Try a pass of yours on random models. Ends with 0 if it held, with 1 if it did not."""
    from autograder.hunt import command

    if kinds == "help":
        out.print(command.kinds_text(), markup=False)
        return
    try:
        wanted = command.wanted(
            words, oracle=oracle, given=given, models=models, seed=seed, kinds=kinds,
            ignore=ignore, eval_only=eval_only, enough=enough, page=html, save=save,
        )  # fmt: skip
        status = command.run(wanted, out, err)
    except command.UNFIT as error:
        err.print(f"[red]Nothing was tried.[/red] {escape(str(error))}")
        raise typer.Exit(command.UNUSABLE) from None
    except KeyboardInterrupt:
        err.print("Stopped.")
        raise typer.Exit(STOPPED) from None
    raise typer.Exit(status)


@app.command("new-exercise")
def new_exercise(
    folder: Annotated[Path, typer.Argument(help="The classroom.")],
    name: Annotated[str, typer.Argument(help="What the learner's function is called.")],
) -> None:
    """Write an exercise of your own into a classroom, or try the one that is there."""
    os.environ.update(_with_scripts_on_path())
    from autograder.new_exercise import trying, write

    room = folder.expanduser().resolve()
    try:
        if not write.folder_of(room, name).exists():
            home = write.write(room, name)
            out.print(f"Wrote {escape(str(home))}: an exercise that works. Make it your own.")
        exercise = trying.load(room, name)
        meant = True
        for one in trying.tried(room, exercise):
            mark = "[green]ok    [/green]" if one.as_meant else "[red]NOT SO[/red]"
            kind = "right" if one.right else "wrong"
            out.print(f"{mark}  {kind}: {escape(one.answer)}: {escape(one.said)}")
            meant &= one.as_meant
        source = write.write_source(room, exercise)
    except (write.CannotWrite, trying.DoesNotWork) as error:
        raise _stopped(error) from None
    if not meant:
        err.print("The check does not say what is meant. Mend the exercise, or answers.py.")
        raise typer.Exit(1)
    out.print(f"All answers are judged as meant. The notebook: {escape(str(source))}")
    out.print(f"To give it out: nbgrader generate_assignment {escape(exercise.chapter)}, in DIR.")


def _pass_on(name: str, module: str, help: str) -> None:
    """Mount a typer app that lives in another module, and import it only when it is called."""

    def command(context: typer.Context) -> None:
        os.environ.update(_with_scripts_on_path())
        importlib.import_module(module).app(context.args, prog_name=f"fxcourse {name}")

    app.command(name, help=help, add_help_option=False, context_settings=_PASS_ON)(command)


if (Path(__file__).parent / "classroom" / "commands.py").exists():
    _pass_on("classroom", "autograder.classroom.commands", "Make and run an nbgrader classroom.")


def _stopped(error: Exception) -> typer.Exit:
    """Say why a command cannot do its work."""
    err.print(f"[red]Stopped.[/red] {escape(str(error))}")
    return typer.Exit(1)


def _print_refusals(done: str, refusals: tuple[BuildRefused, ...]) -> None:
    from autograder.builder.paths import shown

    for refusal in refusals:
        for problem in refusal.problems:
            place = f"{shown(refusal.path)}:{problem.line}:"
            err.print(f"[bold]{escape(place)}[/bold] {escape(problem.message)}")
            err.print(f"        -> {escape(problem.mend)}")
    count = sum(len(refusal.problems) for refusal in refusals)
    err.print(f"\nNothing was {done}: {count} problem{'s' if count > 1 else ''} to mend.")


def _print_what_is_missing(names: list[str]) -> None:
    """Which exercises have no debrief, and what each of them lacks."""
    from autograder.builder.generate import without_debrief

    missing = without_debrief(names)
    if missing:
        have = "exercise has" if len(missing) == 1 else "exercises have"
        out.print(f"{len(missing)} {have} no debrief: {', '.join(missing)}.")


def _print_english(names: list[str]) -> None:
    """Where chapters are not in plain English; a warning for as long as there is any."""
    from autograder.builder import plain_english

    count = _print_warnings(names, plain_english.findings)
    if count:
        places = "place is" if count == 1 else "places are"
        out.print(f"{count} {places} not in plain English. The number may only fall.")


def _print_statements(names: list[str]) -> None:
    """What chapters say of code that no cell asserts; a warning for as long as there is any."""
    from autograder.builder import statements

    count = _print_warnings(names, statements.findings)
    if count:
        things = "statement that nothing executes" if count == 1 else "statements nothing executes"
        out.print(f"{count} {things}. The number may only fall.")


def _print_warnings(names: list[str], findings: Callable[[Chapter], list[Problem]]) -> int:
    """What a lint finds in chapters; returns how much it is."""
    from autograder.builder.paths import choose, shown
    from autograder.builder.source import read

    found = [(shown(path), p) for path in choose(names) for p in findings(read(path)[0])]
    for place, problem in found:
        said = f"{place}:{problem.line}: {problem.message}"
        out.print(f"[yellow]warning[/yellow]  {escape(said)}")
        out.print(f"        -> {escape(problem.mend)}")
    return len(found)


def _print_minutes(names: list[str]) -> None:
    """How long each chapter takes to read and to do."""
    from rich.table import Table

    from autograder.builder.card_headings import found_exercises
    from autograder.builder.minutes import effort
    from autograder.builder.paths import choose
    from autograder.builder.source import read

    table = Table("chapter", box=None, padding=(0, 2, 0, 0))
    for heading in ("words", "code lines", "exercises, minutes", "total, minutes"):
        table.add_column(heading, justify="right")
    for path in choose(names):
        found = effort(read(path)[0], found_exercises(path.stem))
        figures = (found.words, found.lines, found.exercises, found.minutes)
        table.add_row(path.stem, *map(str, figures))
    out.print(table)


def _with_scripts_on_path() -> dict[str, str]:
    """The environment, with this Python's commands found first: nbgrader calls `alembic`."""
    scripts = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": scripts + os.pathsep + os.environ.get("PATH", "")}


def main() -> None:
    """Run the command. After a Ctrl-C the prompt is back at once."""
    try:
        app()
    except SystemExit as end:
        if end.code == STOPPED:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(STOPPED)  # tidying up what PyTorch has imported takes seconds
        raise


if __name__ == "__main__":
    main()
