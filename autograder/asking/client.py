"""Asks the process that makes questions, from a learner's kernel."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from autograder.asking.code import Code
from autograder.asking.question import Question
from autograder.environment.child import python_command


@dataclass(frozen=True)
class Reply:
    """The questions about an answer.

    Attributes:
        questions: two, or fewer.
        why: a sentence, if there are fewer than two.
    """

    questions: tuple[Question, ...]
    why: str


class Client:
    """Starts the process when it is first needed, and keeps it for the next request."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def ask(self, exercise: str, code: Code, turn: int = 1) -> Reply:
        """Ask for questions about an answer.

        Args:
            exercise: its exercise.
            code: its text.
            turn: 2 for two other questions.
        """
        request = {"exercise": exercise, "cell": code.cell, "before": code.before, "turn": turn}
        try:
            reply = self._exchange(json.dumps(request))
        except OSError:  # the process has ended
            self.stop()
            reply = ""
        except BaseException:  # the learner interrupts the cell
            self.stop()
            raise
        if not hasattr(os, "fork"):
            self.stop()
        data: dict[str, Any] = {"questions": [], "why": "The questions could not be made."}
        data = json.loads(reply) if reply else data
        questions = tuple(Question.from_json(row) for row in data["questions"])
        return Reply(
            questions, data["why"] or ("" if reply else "The questions could not be made.")
        )

    def stop(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def _exchange(self, line: str) -> str:
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(line + "\n")
        process.stdin.flush()
        reply = process.stdout.readline()
        if not reply:
            self.stop()
        return reply

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                python_command("-m", "autograder.asking.child"),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True, encoding="utf-8", env={**os.environ, "OMP_NUM_THREADS": "1"},
                start_new_session=sys.platform != "win32",
            )  # fmt: skip
        return self._process


CLIENT = Client()
"""The client of this kernel."""

atexit.register(CLIENT.stop)
