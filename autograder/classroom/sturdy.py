"""nbgrader's `Execute`, made to outlive what a notebook does to its kernel.

A cell that ends the kernel, blocks it or floods it costs what that cell was good for, not
the submission: a new kernel runs the earlier cells again, without it, and the notebook goes on.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any

from nbclient.client import NotebookClient
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_output
from nbgrader.preprocessors import Execute
from traitlets import Bool, Integer, List, Unicode

from autograder.classroom import flood


class UnfitKernel(RuntimeError):
    """The kernel that the notebook names cannot be used for grading."""


class SturdyExecute(Execute):
    """Runs a notebook's cells; see the module."""

    max_kernels = Integer(10, help="Kernels that one notebook may use up.").tag(config=True)
    notebook_timeout = Integer(
        1800, help="Seconds that one notebook may take; cells after that are not run."
    ).tag(config=True)
    prepare_timeout = Integer(180, help="Seconds that making a new kernel ready may take.").tag(
        config=True
    )
    max_printed = Integer(
        200_000, help="Characters that one cell may print; the rest is dropped."
    ).tag(config=True)
    max_output = Integer(
        10_000_000, help="Bytes of output of one cell; a cell that sends more is interrupted."
    ).tag(config=True)

    # What lies beside the notebook can be imported, but does not take the place of a package.
    extra_arguments = List(
        [
            "--InteractiveShellApp.ignore_cwd=True",
            "--IPKernelApp.log_level=40",
            "--InteractiveShellApp.exec_lines=__import__('sys').path.append('')",
        ]
    ).tag(config=True)
    shutdown_kernel = Unicode("immediate")
    store_widget_state = Bool(False)

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any], km: Any = None
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run a notebook in place."""
        NotebookClient.__init__(self, nb, km)
        self._check_assign_resources(resources)
        self._kernels, self._deadline = 0, monotonic() + self.notebook_timeout
        self._barred: set[int] = set()  # cells that a new kernel must not be given
        self._received = 0
        self.out_of_time = False
        try:
            self._start()
            for index, cell in enumerate(nb.cells):
                self.visit(cell, index)
            self.finish()
        finally:
            self._stop()
        return nb, resources

    def visit(self, cell: NotebookNode, index: int) -> None:
        """Do what is to be done at one cell."""
        self.run(cell, index)

    def finish(self) -> None:
        """Do what is to be done after the last cell, while the kernel is still there."""

    # ------------------------------------------------------------------ running

    def run(self, cell: NotebookNode, index: int) -> None:
        """Run one cell as the student wrote it."""
        if cell.cell_type != "code":
            return
        if not self.has_kernel():
            note(cell, "NotRun", "This cell was not run: the notebook had used up what it may use.")
            return
        try:
            self._execute(cell, index, store_history=True)
        except Exception as error:
            self.warn(f"cell {index + 1} ended or blocked Python: {_short(error)}")
            self._barred.add(index)
            note(
                cell,
                "KernelEnded",
                "This cell ended or blocked Python. The cells above it were run again "
                "without it, and the notebook went on.",
            )
            self.restart(index)
        if self.out_of_time:
            self._barred.add(index)

    def aside(self, source: str, index: int, timeout: float | None = None) -> NotebookNode:
        """Run code that is not in the notebook, at the place of a cell.

        Raises:
            Exception: whatever says that the kernel is lost.
        """
        cell, kept = new_code_cell(source), self.nb.cells[index]
        displays, usual = self._display_id_map, self.timeout
        self._display_id_map, self.timeout = {}, int(timeout) if timeout else usual
        try:
            self._execute(cell, index, store_history=False)
        finally:
            self.nb.cells[index] = kept
            self._display_id_map, self.timeout = displays, usual
        return cell

    def _execute(self, cell: NotebookNode, index: int, *, store_history: bool) -> None:
        self._received, self.out_of_time = 0, False
        self.execute_cell(cell, index, store_history=store_history)

    def has_kernel(self) -> bool:
        """Whether cells can still be run."""
        if self.kc is not None and monotonic() > self._deadline:
            self.warn(f"the notebook took longer than {self.notebook_timeout} seconds")
            self._stop()
        return self.kc is not None

    def restart(self, before: int) -> None:
        """Give the notebook a new kernel in which the cells before this one have been run."""
        while True:
            self._stop()
            if self._kernels >= self.max_kernels:
                self.warn(f"the notebook used up {self._kernels} kernels; the rest is not run")
                return
            self._start()
            lost_at = self._replay(before)
            if lost_at is None:
                return
            self._barred.add(lost_at)

    def _replay(self, before: int) -> int | None:
        """Run the cells again whose outputs are there already; the one that failed, if any."""
        for index in range(before):
            cell = self.nb.cells[index]
            if cell.cell_type != "code" or index in self._barred or not self.is_replayed(cell):
                continue
            try:
                self.aside(cell.source, index)
            except Exception as error:
                self.warn(f"cell {index + 1} ended or blocked Python: {_short(error)}")
                return index
        return None

    def is_replayed(self, cell: NotebookNode) -> bool:
        """Whether a new kernel is to run this cell again."""
        return True

    def warn(self, text: str) -> None:
        """Tell the instructor something about this submission."""
        ids = self.resources.get("nbgrader", {})
        self.log.warning("%s, %s: %s", ids.get("student"), ids.get("notebook"), text)

    def _start(self) -> None:
        self._kernels += 1
        self.km = self.create_kernel_manager()
        self.start_new_kernel()
        self.start_new_kernel_client()
        if self.nb.cells:
            self.prepare()

    def prepare(self) -> None:
        """Make a new kernel ready for a notebook."""
        self.ask(flood.as_source(self.max_printed))

    def ask(self, source: str) -> None:
        """Run code of our own in a kernel in which no student's code has been run.

        Raises:
            UnfitKernel: it failed, which is not the student's fault.
        """
        for output in self.aside(source, 0, timeout=self.prepare_timeout).outputs:
            if output.output_type == "error":
                spec = self.nb.metadata.get("kernelspec", {}).get("name")
                raise UnfitKernel(
                    f"The kernel '{spec}' cannot be used for grading ({output.evalue}). "
                    "It must be a Python in which this course is installed: see "
                    "'jupyter kernelspec list'."
                )

    def _stop(self) -> None:
        if self.km is not None:
            self._cleanup_kernel()
        self.km = self.kc = None

    # ------------------------------------------------------------------ what kernels send

    async def _async_handle_timeout(
        self, timeout: int, cell: NotebookNode | None = None
    ) -> dict[str, Any] | None:
        self.out_of_time = True
        return await super()._async_handle_timeout(timeout, cell)

    def on_cell_executed(self, **kwargs: Any) -> None:
        """Raise if a cell made the kernel go away."""
        super().on_cell_executed(**kwargs)
        content = kwargs["execute_reply"]["content"]
        if any(part.get("source") == "ask_exit" for part in content.get("payload", ())):
            raise RuntimeError("the cell asked Python to exit")

    def output(
        self, outs: list[NotebookNode], msg: dict[str, Any], display_id: Any, cell_index: int
    ) -> NotebookNode | None:
        """Take an output, unless the cell has sent too much already."""
        if self._received > self.max_output:
            return None
        self._received += _size(msg["content"])
        if self._received > self.max_output:
            outs.append(new_output("stream", text="\n… further output was dropped\n"))
            asyncio.ensure_future(self.km.interrupt_kernel())
            return None
        return super().output(outs, msg, display_id, cell_index)

    def _update_display_id(self, display_id: str, msg: dict[str, Any]) -> None:
        try:
            super()._update_display_id(display_id, msg)
        except (IndexError, KeyError):
            self.log.debug("An output that is gone was to be updated")


def note(cell: NotebookNode, name: str, text: str) -> None:
    """Add to a cell's outputs what happened to it."""
    cell.outputs.append(new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"]))


def _short(error: Exception) -> str:
    return str(error).partition("\n")[0][:200] or type(error).__name__


def _size(content: dict[str, Any]) -> int:
    parts = [content.get("text", ""), *content.get("data", {}).values()]
    parts += content.get("traceback", ())
    return 200 + sum(len(part) if isinstance(part, str) else len(repr(part)) for part in parts)
