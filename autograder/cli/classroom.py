"""The commands under ``fxcourse classroom``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from autograder.cli import classroom_chapters, classroom_groups, classroom_hub, classroom_lms
from autograder.cli.classroom_lms import Folder
from autograder.cli.errors import explained
from autograder.cli.help_panels import Panels, arrange
from autograder.cli.terminal import err, out

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def classroom() -> None:
    """Make and run a class. To grade it, run `fxcourse grade`."""


@app.command()
def create(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the classroom.")],
    chapters: Annotated[
        str | None, typer.Option(help="Chapters, such as 01,03. Default: all.")
    ] = None,
    track: Annotated[
        str | None, typer.Option(help="The chapters of a track, such as core: see docs/tracks.md.")
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(
            help="The gradebook, such as postgresql://USER@HOST/NAME. Default: a file in DIR."
        ),
    ] = None,
    no_solutions: Annotated[
        bool,
        typer.Option("--no-solutions", help="Do not offer solutions to students who are stuck."),
    ] = False,
) -> None:
    """Make a classroom for nbgrader: chapters, settings, a gradebook and a README."""
    from autograder.classroom.setup import create as making

    with explained("No classroom was made."):
        chosen = making.choose(chapters, track)
        making.create(
            folder, chosen, lambda text: out.print(escape(text)), db, solutions=not no_solutions
        )
    out.print(f"The classroom is in {escape(str(folder))}. Its README.md lists the next steps.")


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the class.")],
) -> None:
    """Make a sample class to try grading on: a chapter and six hand-ins with known points."""
    from autograder.classroom.setup import sample_class

    with explained("No class was made."):
        sample_class.make(folder, say=lambda text: out.print(escape(text)))
    out.print(f"The sample class is in {escape(str(folder))}. These students have handed in:")
    for line in sample_class.lines():
        out.print(f"  {line}")
    out.print(f"Now grade it: fxcourse grade {escape(str(folder))}")


@app.command()
def undo(
    folder: Folder,
    force: Annotated[
        bool, typer.Option("--force", help="Undo even if the gradebook has changed since the run.")
    ] = False,
    db: Annotated[
        str | None, typer.Option(help="The gradebook of that run, if it was not the default one.")
    ] = None,
) -> None:
    """Undo the last `fxcourse grade`, `comment` or `reveal` that changed something."""
    from autograder.classroom.reports.undo import undo_last_run, undo_reveal, write_reports_again

    with explained("Not undone.", OSError):
        if (shown := undo_reveal(folder)) is not None:
            chapter = escape(shown.chapter)
            out.print(f"Undone: the reveal of {chapter}. New pages do not show its cases.")
            out.print("Pages that were given out stay out. To make the others again:")
            out.print(f"  nbgrader generate_feedback {chapter} --force")
            return
        began, count = undo_last_run(folder, force=force, db_url=db)
    notebooks = "1 notebook" if count == 1 else f"{count} notebooks"
    out.print(f"Undone: the run of {escape(began)}. The gradebook and {notebooks} are restored.")
    for path in write_reports_again(folder, db_url=db):
        out.print(f"The report was written again: {escape(str(path))}")
    if count:
        out.print(
            "The hand-ins of that run are still in submitted/: the next fxcourse grade grades them "
            "again. To prevent that, put back the earlier notebooks."
        )


@app.command()
def waiting(folder: Folder) -> None:
    """Show answers that a person may want to look at.

    They are answers that you graded by hand and that students then submitted again, and answers
    that cannot be followed although their exercise forbids a tool.
    """
    from autograder.classroom.reports import regrade_queue_text as looks

    with explained("Nothing to show."):
        shown = looks.shown(folder)
    out.print(shown, markup=False)


@app.command()
def pin(folder: Folder) -> None:
    """Record the versions that are installed here as the versions of the class."""
    from autograder.classroom.records import versions
    from autograder.classroom.room.location import classroom_at

    with explained("Stopped."):
        room = classroom_at(folder)
    out.print("The versions of this class are now:")
    for name, number in versions.pin(room).items():
        out.print(f"{escape(name)}: {escape(number)}")


@app.command()
def forget(
    folder: Folder,
    student: Annotated[str, typer.Argument(metavar="STUDENT", help="The student's id.")],
    yes: Annotated[
        bool, typer.Option("--yes", help="Erase the data without asking first.")
    ] = False,
) -> None:
    """Erase a student's data from the gradebook, folders and journal. It asks first."""
    from autograder.classroom.reports import forget as forgetting

    with explained("Not erased.", OSError):
        found = forgetting.Forgetting(folder, student)
        held = found.held()
        for line in forgetting.lines_about(held):
            out.print(escape(line))
        if not held:
            out.print(f"There is nothing to erase about {escape(student)}.")
            return
        if not yes and not typer.confirm("Erase this forever?"):
            err.print("Nothing was erased.")
            raise typer.Exit(1)
        found.erase()
    out.print(f"Erased: {escape(student)}. Also erase copies elsewhere, such as backups.")


@app.command()
def lateness(folder: Folder) -> None:
    """Show late submissions and their penalties, by deadlines.toml and the current due dates."""
    from autograder.classroom.reports import lateness_preview

    with explained("Nothing to show."):
        text = lateness_preview.preview(folder)
    out.print(text)


@app.command()
def replay(
    folder: Folder,
    student: Annotated[str, typer.Argument(metavar="STUDENT", help="The student's id.")],
    exercise: Annotated[
        str, typer.Argument(metavar="EXERCISE", help="The exercise, such as add_to_mul.")
    ],
) -> None:
    """Judge a graded answer again on the same models, and show each case and the card."""
    from autograder.classroom.reports import replay as replaying

    with explained("Nothing to show."):
        found = replaying.replay(folder, student, exercise)
    out.print(escape(str(found)))


@app.command()
def reveal(
    folder: Folder,
    chapter: Annotated[str, typer.Argument(metavar="CHAPTER", help="The chapter, such as 03.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be shown, and write nothing.")
    ] = False,
    random_only: Annotated[
        bool,
        typer.Option("--random-only", help="Show results on random models, and no hidden case."),
    ] = False,
    after: Annotated[
        str,
        typer.Option(
            metavar="DATE",
            help="The last day of work, such as 2026-12-04, if the chapter has no due date.",
        ),
    ] = "",
) -> None:
    """Show students the hidden cases that they fail, after the last extension."""
    from autograder.classroom.reports import reveal as revealing

    with explained("Nothing is shown.", OSError):
        shown = revealing.reveal(
            folder, chapter, random_only=random_only, after=after, dry_run=dry_run
        )
    for line in revealing.lines_about(shown, folder, dry_run=dry_run):
        out.print(escape(line))


classroom_lms.add_to(app)
classroom_hub.add_to(app)
classroom_chapters.add_to(app)
classroom_groups.add_to(app)


@app.command()
def report(
    folder: Folder,
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Remove names, so that you can share the report.")
    ] = False,
    db: Annotated[
        str | None, typer.Option(help="Use another gradebook: postgresql://USER@HOST/NAME.")
    ] = None,
) -> None:
    """Write a page and a table about the submissions and the exercises."""
    from autograder.classroom.reports.class_report import make

    with explained("There is no report."):
        path = make.report(folder, anonymous=anonymous, db_url=db)
    out.print(f"The report is {escape(str(path))}, and the table is report.csv next to it.")


PANELS: Panels = {
    "Begin": {
        "create": "fxcourse classroom create my_class --track core",
        "demo": "fxcourse classroom demo sample_class",
        "pack": "fxcourse classroom pack my_class",
        "hub": "fxcourse classroom hub my_class --to my_hub",
        "bundle": "fxcourse classroom bundle my_class 03 --for gradescope",
    },
    "Hand-ins": {
        "collect": "fxcourse classroom collect my_class submissions.zip",
        "roster": "fxcourse classroom roster my_class students.csv",
    },
    "After grading": {
        "waiting": "fxcourse classroom waiting my_class",
        "report": "fxcourse classroom report my_class --anonymous",
        "groups": "fxcourse classroom groups my_class 03",
        "comment": "fxcourse classroom comment my_class 03 --dry-run",
        "replay": "fxcourse classroom replay my_class ann add_to_mul",
        "lateness": "fxcourse classroom lateness my_class",
        "reveal": "fxcourse classroom reveal my_class 03",
        "export": "fxcourse classroom export my_class --moodle grades.csv --chapter 03",
    },
    "Changes": {
        "add": "fxcourse classroom add my_class 04 05",
        "update": "fxcourse classroom update my_class",
        "remove": "fxcourse classroom remove my_class 05",
        "undo": "fxcourse classroom undo my_class",
        "pin": "fxcourse classroom pin my_class",
        "forget": "fxcourse classroom forget my_class ann",
    },
}
"""The commands in the order of the help, which is the order of a term, each with an example."""

arrange(app, PANELS)
