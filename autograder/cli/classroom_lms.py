"""The commands under ``fxcourse classroom`` for hand-ins, students, grades and handing out."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer
from rich.markup import escape
from rich.table import Table

from autograder.classroom.lms.path_layouts import Layout
from autograder.cli.errors import explained
from autograder.cli.terminal import err, out, print_some

if TYPE_CHECKING:
    from autograder.classroom.lms.collect import Collected
    from autograder.classroom.lms.export import Filled

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The classroom.")]
Zone = Annotated[
    str | None,
    typer.Option(
        "--timezone",
        help="Time zone of times that have none, such as Europe/Berlin. Default: yours.",
    ),
]


def collect(
    folder: Folder,
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="A zip from Moodle or Canvas, or a folder.")
    ],
    worksheet: Annotated[
        Path | None,
        typer.Option(help="Moodle's grading worksheet, with names and submission times."),
    ] = None,
    timezone: Zone = None,
    dates: Annotated[bool, typer.Option(help="Use the dates of files as submission times.")] = True,
    layout: Annotated[
        Layout | None,
        typer.Option(
            help="The platform that named the top entries. Default: guessed from these names."
        ),
    ] = None,
) -> None:
    """Copy the submissions from a learning platform into submitted/."""
    from autograder.classroom.grading.work_digests import WorkDigests
    from autograder.classroom.lms import collect as collecting
    from autograder.classroom.lms.people import People, participants
    from autograder.classroom.lms.submitted_folder import records
    from autograder.classroom.records.roster import add_to_gradebook, students
    from autograder.classroom.records.tables import read_table
    from autograder.classroom.room.open_classroom import open_classroom

    with (
        explained("Nothing was collected.", ValueError, OSError),
        open_classroom(folder) as classroom,
    ):
        zone = _zone(timezone)
        rows = participants(read_table(worksheet), zone) if worksheet else []
        people = People(students(classroom.gradebook), records(classroom.room), rows)
        source = source.expanduser()
        work_of = WorkDigests(classroom.nbgrader.config, classroom.gradebook)
        done = collecting.collect(
            classroom.room, source, people, zone, dates=dates, layout=layout, work_of=work_of
        )
        placed = {one.student for one in done.placed}
        add_to_gradebook(classroom.gradebook, [one for one in people.new if one.id in placed])
        known = {one.id for one in people.known} - {one.id for one in people.new}
    _print_collected(done, timezone)
    if work_of.problem:
        out.print(
            "[yellow]The answers were not compared with those of earlier hand-ins, so the newest "
            f"count:[/yellow] {escape(work_of.problem)}"
        )
    strangers = sorted(placed - known)
    if known and strangers:
        out.print(
            f"[yellow]{len(strangers)} of these were not in the gradebook:[/yellow] "
            f"{escape(', '.join(strangers[:20]))}"
        )
    if not done.placed:
        err.print("[red]Nothing was collected.[/red] The list above says why.")
        raise typer.Exit(1)


def roster(
    folder: Folder,
    table: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A CSV file: nbgrader's, Moodle's participants, or Canvas's gradebook.",
        ),
    ],
) -> None:
    """Add the students of a list to the gradebook: ids, names, addresses, Canvas's numbers."""
    from autograder.classroom.records.roster import add_to_gradebook, read_roster
    from autograder.classroom.room.open_classroom import open_classroom

    with (
        explained("The gradebook was not changed.", ValueError, OSError),
        open_classroom(folder) as classroom,
    ):
        people = read_roster(table)
        new, changed = add_to_gradebook(classroom.gradebook, people)
    out.print(f"{len(people)} students in {escape(table.name)}: {new} new, {changed} changed.")


def export(
    folder: Folder,
    moodle: Annotated[
        Path | None, typer.Option(help="Moodle's grading worksheet of one assignment.")
    ] = None,
    canvas: Annotated[Path | None, typer.Option(help="Canvas's gradebook, as CSV.")] = None,
    chapter: Annotated[
        str | None, typer.Option(help="The chapter that Moodle's worksheet belongs to.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="The column of a chapter in Canvas: 01=TITLE. Default: by its title."),
    ] = None,
    waiting: Annotated[
        bool, typer.Option("--waiting", help="Also fill in grades that still wait for your points.")
    ] = False,
    to: Annotated[
        Path | None, typer.Option(help="The folder to write to. Default: DIR/exported.")
    ] = None,
) -> None:
    """Fill grades into Moodle's worksheet or Canvas's gradebook, and pack the feedback."""
    from autograder.classroom.lms import export as exporting
    from autograder.classroom.lms.packed_feedback import feedback_zip
    from autograder.classroom.lms.submitted_folder import records
    from autograder.classroom.lms.unusable import notes_for_export
    from autograder.classroom.records.roster import students
    from autograder.classroom.records.tables import read_table
    from autograder.classroom.room.open_classroom import open_classroom
    from autograder.classroom.setup.create import is_called

    def chosen(word: str | None, known: list[str]) -> str:
        found = known if word is None else [name for name in known if is_called(name, word)]
        if len(found) != 1:
            raise ValueError(f"Name the chapter with --chapter: {', '.join(known)}.")
        return found[0]

    with (
        explained("Nothing was written.", ValueError, OSError),
        open_classroom(folder) as classroom,
    ):
        if moodle is None and canvas is None:
            raise ValueError("Name a file to fill in: --moodle WORKSHEET or --canvas GRADEBOOK.")
        known = sorted(one.name for one in classroom.gradebook.assignments)
        names = exporting.Names(students(classroom.gradebook), records(classroom.room))
        place = (to or classroom.room / "exported").expanduser()
        place.mkdir(parents=True, exist_ok=True)
        if moodle is not None:
            name, table = chosen(chapter, known), read_table(moodle)
            found = exporting.grades(classroom.gradebook, name)
            done = exporting.fill_moodle(table, name, names, found, waiting=waiting)
            done.notes += notes_for_export(classroom.room, name, found, done.done)
            _print_filled(_write(place / moodle.name, moodle, table.as_bytes()), done)
            pages = place / f"feedback_{name}.zip"
            for line in feedback_zip(pages, classroom.room, name, done, found):
                out.print(escape(line))
        if canvas is not None:
            table = read_table(canvas)
            pairs = [word.partition("=") for word in column or ()]
            titles = {chosen(word, known): title for word, _, title in pairs}
            columns = exporting.canvas_columns(table, known, titles)
            all_found = {name: exporting.grades(classroom.gradebook, name) for name in columns}
            done = exporting.fill_canvas(table, columns, names, all_found, waiting=waiting)
            for name, found in all_found.items():
                done.notes += notes_for_export(classroom.room, name, found, done.done)
            _print_filled(_write(place / canvas.name, canvas, table.as_bytes()), done)


def pack(
    folder: Folder,
    chapters: Annotated[
        str | None, typer.Option(help="Chapters, such as 01,03. Default: all.")
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(help="The zip to write. Default: DIR/exported/NAME-for-students.zip."),
    ] = None,
) -> None:
    """Pack one zip for students: notebooks, the course without solutions, instructions."""
    from autograder.classroom.room.open_classroom import open_classroom
    from autograder.classroom.setup.pack import pack as packing

    with explained("Nothing was packed.", ValueError, OSError), open_classroom(folder) as classroom:
        place = to or classroom.room / "exported" / f"{classroom.room.name}-for-students.zip"
        place = place.expanduser()
        place.parent.mkdir(parents=True, exist_ok=True)
        names = packing(classroom.room, place, (chapters or "").replace(",", " ").split())
    out.print(f"{escape(str(place))}: {', '.join(names)}, with the course as a wheel.")
    out.print(
        "Its README.md explains the installation. After you add or change chapters, pack again."
    )


class Platform(StrEnum):
    """The platforms for which a bundle is packed; `setup.bundle` has the same words."""

    PLAIN = "plain"
    GRADESCOPE = "gradescope"
    GITHUB = "github"
    COURSERA = "coursera"


def bundle(
    folder: Folder,
    chapter: Annotated[str, typer.Argument(metavar="CHAPTER", help="The chapter, such as 03.")],
    platform: Annotated[
        Platform,
        typer.Option(
            "--for",
            metavar="PLATFORM",
            help="With gradescope, github or coursera, a zip for this platform. With plain, the "
            "bundle alone.",
        ),
    ] = Platform.PLAIN,
    to: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The file to write. Default: in DIR/exported."),
    ] = None,
) -> None:
    """Write a file with which `fxcourse grade-one` grades a chapter without this classroom."""
    from autograder.classroom.room.open_classroom import open_classroom
    from autograder.classroom.setup import bundle as bundling

    with explained("Nothing was written.", OSError), open_classroom(folder) as classroom:
        made = bundling.make_bundle(classroom, chapter)
        suffix = ".json" if platform is Platform.PLAIN else ".zip"
        place = to or classroom.room / "exported" / f"{made.chapter}-{platform}{suffix}"
        place = place.expanduser()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(bundling.packed(made, platform.value))
    out.print(f"{escape(str(place))}: made for {made.chapter}.")
    if platform is Platform.GITHUB:
        out.print("Students can read it, so it has no hidden tests and no hidden cases.")
    else:
        out.print("Do not give it to students: it has hidden tests, and the seeds of its models.")
    out.print("After you change the chapter or its points, make it again.")


def _write(path: Path, source: Path, data: bytes) -> Path:
    """Write a filled table to a new file, and leave the platform's own file unchanged."""
    if path.resolve() == source.expanduser().resolve():
        path = path.with_name(f"{path.stem}_filled{path.suffix}")
    path.write_bytes(data)
    return path


def _print_filled(path: Path, done: Filled) -> None:
    out.print(f"{escape(str(path))}: grades of {len(done.done)} students.")
    for note in done.notes:
        out.print(f"  {escape(note)}")


def _print_collected(done: Collected, timezone: str | None) -> None:
    """Print the submissions that were collected, those that were not and why, and their times."""
    for why in dict.fromkeys(one.why for one in done.left_out):
        paths = [escape(one.path) for one in done.left_out if one.why == why]
        print_some([f"[yellow]left out[/yellow]  {path}: {escape(why)}" for path in paths])
    late = [escape(f"{one.student}, {one.assignment}") for one in done.placed if one.late]
    print_some([f"late      {who}: according to Canvas." for who in late])
    if done.placed:
        heads = ("new", "newer", "same answers", "same", "older")
        table = Table("assignment", "students", *heads, box=None)
        for name in sorted({one.assignment for one in done.placed}):
            own = [one for one in done.placed if one.assignment == name]
            counts = Counter(one.what.name for one in own)
            kinds = ("NEW", "REPLACED", "SAME_WORK", "SAME", "EARLIER")
            shown = [str(counts[what] or "") for what in kinds]
            table.add_row(name, str(len(own)), *shown)
        out.print(table)
    older = sum(one.others for one in done.placed)
    older += sum(one.what.name in ("REPLACED", "SAME_WORK", "EARLIER") for one in done.placed)
    if any(one.what.name == "SAME_WORK" for one in done.placed):
        out.print("same answers: the file is newer, but the earlier hand-in and its time count.")
    if older:
        out.print(f"{older} other versions are in .fxcourse/older.")
    untimed = sum(one.when is None for one in done.placed)
    if done.dated:
        if untimed:
            out.print(done.dated)
    elif any(one.when for one in done.placed):
        out.print(f"Time zone of the times in a zip: {timezone or 'that of this machine'}.")
    if untimed:
        out.print(f"{untimed} of {len(done.placed)} have no time, and count as on time.")


def _zone(name: str | None) -> ZoneInfo | None:
    """The time zone with this name; ``None`` for this machine's own."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"There is no time zone {name!r}. An example: Europe/Berlin.") from None


def add_to(app: typer.Typer) -> None:
    """Mount these commands."""
    for command in (collect, roster, export, pack, bundle):
        app.command()(command)
