"""A PostgreSQL server for one test run, in its own folder."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PASSWORD = "a s/ecret@word"
"""The password of the role `careful`, which must give it; `me` need not."""

_RULES = """\
local all all trust
host all careful 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
"""


def why_not() -> str:
    """The reason why no server can start here; empty if it can."""
    if os.name != "posix":
        return "PostgreSQL is tried on Linux and macOS only"
    if _programs() is None:
        return "no PostgreSQL server is installed (initdb was not found)"
    if os.geteuid() == 0 and _user() is None:
        return "PostgreSQL refuses to run as root, and there is no other user"
    return ""


def _programs() -> Path | None:
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((p for p in places if (p / "initdb").exists() and (p / "pg_ctl").exists()), None)


def _user() -> pwd.struct_passwd | None:
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    return None


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes:
        home: its folder, with its log and its socket.
        port: its port on this machine.
    """

    home: Path
    port: int

    def address(self, name: str, who: str = "me") -> str:
        """The address of one of its databases."""
        return f"postgresql://{who}@127.0.0.1:{self.port}/{name}"

    def make(self, name: str) -> str:
        """Make a new database, and return its address."""
        self._tell("postgres", f'CREATE DATABASE "{name}"')
        return self.address(name)

    def make_careful_role(self) -> None:
        """Make the role that needs a password."""
        self._tell("postgres", f"CREATE ROLE careful LOGIN SUPERUSER PASSWORD '{PASSWORD}'")

    def make_role_without_rights(self) -> None:
        """Make the role `stranger`, which may connect, but has no other rights."""
        self._tell("postgres", "CREATE ROLE stranger LOGIN")

    def stop(self) -> None:
        """Stop it immediately, like a machine that fails."""
        _run(self.home, "pg_ctl", "-D", str(self.home / "data"), "-m", "immediate", "stop")

    def _tell(self, database: str, sentence: str) -> None:
        import psycopg

        address = self.address(database)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(sentence)


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """Run a server with a role `me`, on a free port that only this machine can reach."""
    home = Path(tempfile.mkdtemp(prefix="fxcourse-pg-"))  # socket paths must be short
    data = home / "data"
    try:
        if os.geteuid() == 0:
            shutil.chown(home, _user().pw_uid, _user().pw_gid)
        _run(home, "initdb", "-D", str(data), "-U", "me", "-A", "trust", "-N", "-E", "UTF8")
        (data / "pg_hba.conf").write_text(_RULES)
        server = Server(home, _free_port())
        options = f"-p {server.port} -k {home} -c listen_addresses=127.0.0.1 -c fsync=off"
        _run(home, "pg_ctl", "-D", str(data), "-o", options, "-l", str(home / "log"), "-w", "start")
        yield server
    finally:
        if (data / "postmaster.pid").exists():
            Server(home, 0).stop()
        shutil.rmtree(home, ignore_errors=True)


def _run(home: Path, program: str, *arguments: str) -> None:
    as_other = {}
    if os.geteuid() == 0:
        user = _user()
        as_other = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    # Not with pipes, because the server keeps inherited files open.
    with (home / f"{program}.out").open("ab") as said:
        command = [str(_programs() / program), *arguments]
        subprocess.run(command, check=True, cwd=home, stdout=said, stderr=said, **as_other)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as door:
        return door.getsockname()[1]
