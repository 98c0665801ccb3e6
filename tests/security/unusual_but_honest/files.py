"""Notebooks as other programs save them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

from tests.security.unusual_but_honest import honest

Form = dict[str, Any]
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)


def saved(change: Callable[[Form], None], **options: Any) -> Callable[[NotebookNode], str]:
    """A writer that changes a notebook's JSON and applies these options of `json.dumps`."""

    def write(nb: NotebookNode) -> str:
        form = json.loads(nbformat.writes(nb))
        change(form)
        return json.dumps(form, **{"ensure_ascii": False, "indent": 1, **options})

    return write


def nothing(form: Form) -> None:
    """Change nothing."""


def without_ids(form: Form) -> None:
    """Remove cell ids, as before nbformat 4.5."""
    form["nbformat_minor"] = 4
    for cell in form["cells"]:
        cell.pop("id", None)


def oldest(form: Form) -> None:
    """Use the format of nbformat 4.0."""
    without_ids(form)
    form["nbformat_minor"] = 0


def vs_code(form: Form) -> None:
    """Remove ids, add languages, and drop the metadata of outputs."""
    without_ids(form)
    form["nbformat_minor"] = 2
    form["metadata"] = {
        "kernelspec": {"display_name": ".venv (3.11.9)", "language": "python", "name": "python3"},
        "language_info": {"name": "python", "version": "3.11.9", "pygments_lexer": "ipython3",
                          "codemirror_mode": {"name": "ipython", "version": 3}},
        "vscode": {"interpreter": {"hash": "31f2aee4e71d21fbe5cf8b01ff0e069b"}},
    }  # fmt: skip
    for cell in form["cells"]:
        cell["metadata"]["vscode"] = {"languageId": "python"}
        cell["source"] = "".join(cell["source"]).splitlines(keepends=True)


def colab(form: Form) -> None:
    """Cells that were run in Colab, without execution counts, some with a form."""
    without_ids(form)
    form["nbformat_minor"] = 0
    form["metadata"] = {
        "colab": {"provenance": [], "toc_visible": True, "gpuType": "T4"},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
        "accelerator": "GPU",
        "widgets": {"application/vnd.jupyter.widget-state+json": {"a1": {"model_name": "x"}}},
    }
    for number, cell in enumerate(form["cells"]):
        cell["metadata"] |= {"id": f"aB3{number}", "cellView": "form", "collapsed": True}
        if cell["cell_type"] == "code":
            cell["metadata"] |= {
                "outputId": f"0f-{number}",
                "colab": {"base_uri": "https://localhost:8080/", "height": 35},
                "executionInfo": {"status": "ok", "elapsed": 4, "user": {"displayName": "me"}},
            }
            cell.pop("execution_count", None)
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["2.5\\n"]}]


def kaggle(form: Form) -> None:
    """Kaggle's ids in the metadata, execution times, trusted cells."""
    form["metadata"]["kaggle"] = {"accelerator": "none", "dataSources": [], "isGpuEnabled": False}
    for cell in form["cells"]:
        cell["metadata"] |= {
            "_uuid": "8f2839f25d086af736a60e9eeb907d3b93b6e0e5",
            "trusted": True,
            "execution": {"iopub.status.busy": "2024-05-01T10:00:00Z"},
        }


def deepnote(form: Form) -> None:
    """Deepnote's metadata and long ids."""
    without_ids(form)
    form["metadata"] |= {"deepnote": {}, "deepnote_notebook_id": "d4c" * 20}
    for number, cell in enumerate(form["cells"]):
        cell["metadata"] |= {"cell_id": f"{number:032x}", "deepnote_cell_type": cell["cell_type"]}


def data_spell(form: Form) -> None:
    """PyCharm's cell times and collapsed state, with source text as one string."""
    for cell in form["cells"]:
        cell["metadata"] |= {
            "pycharm": {"name": "#%%\\n", "is_executing": False},
            "ExecuteTime": {"end_time": "2024-05-01T10:00:00", "start_time": "2024-05-01T09:59:59"},
            "jupyter": {"outputs_hidden": False, "source_hidden": True},
        }
        cell["source"] = "".join(cell["source"])


def jupytext(form: Form) -> None:
    """Pair the notebook with a script."""
    form["metadata"]["jupytext"] = {
        "formats": "ipynb,py:percent",
        "text_representation": {"extension": ".py", "format_name": "percent"},
    }


def kernel(name: str, shown: str) -> Callable[[Form], None]:
    """Name a kernel of the student's machine."""

    def change(form: Form) -> None:
        form["metadata"]["kernelspec"] = {"display_name": shown, "language": "python", "name": name}

    return change


def no_metadata(form: Form) -> None:
    """Remove the kernel and the language."""
    form["metadata"] = {}


def counts_out_of_order(form: Form) -> None:
    """Execution counts of cells that were run many times in any order."""
    for number, cell in enumerate(form["cells"]):
        if cell["cell_type"] == "code":
            cell["execution_count"] = (number * 37) % 101 + 400


def big_outputs(form: Form) -> None:
    """Outputs with a picture of 5 MB and an error."""
    picture = {"output_type": "display_data", "metadata": {"needs_background": "light"},
               "data": {"image/png": PIXEL + "A" * 5_000_000}}  # fmt: skip
    error = {"output_type": "error", "ename": "E", "evalue": "x", "traceback": ["\x1b[31mE\x1b[0m"]}
    code = [cell for cell in form["cells"] if cell["cell_type"] == "code"]
    code[1]["outputs"], code[2]["outputs"] = [picture], [error]


def odd_outputs(form: Form) -> None:
    """Outputs of older programs, with fields that no longer exist."""
    for cell in form["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [
                {
                    "output_type": "display_data",
                    "metadata": {},
                    "transient": {"display_id": "x"},
                    "data": {"application/vnd.plotly.v1+json": {"data": []}},
                },
                {"output_type": "stream", "name": "stdout", "text": "one string"},
            ]
            cell["execution_count"] = None


def tags_and_slides(form: Form) -> None:
    """Tags, slides, collapsed cells, an author."""
    form["metadata"] |= {
        "authors": [{"name": "Me"}],
        "title": "My work",
        "celltoolbar": "Slideshow",
    }
    form["metadata"]["toc"] = {"base_numbering": 1}
    for cell in form["cells"]:
        cell["metadata"] |= {"tags": ["mine", "hide-input"], "slideshow": {"slide_type": "slide"}}


def windows(form: Form) -> None:
    """Use Windows line ends in all sources."""
    for cell in form["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")


def plain(nb: NotebookNode) -> str:
    return saved(nothing)(nb)


SUBMISSIONS = [
    honest("file-4.4", "saved without ids", write=saved(without_ids)),
    honest("file-4.0", "saved as nbformat 4.0", write=saved(oldest)),
    honest("file-vs-code", "saved by VS Code", write=saved(vs_code)),
    honest("file-colab", "saved by Colab", write=saved(colab)),
    honest("file-kaggle", "saved by Kaggle", write=saved(kaggle)),
    honest("file-deepnote", "saved by Deepnote", write=saved(deepnote)),
    honest("file-data-spell", "saved by DataSpell", write=saved(data_spell)),
    honest("file-jupytext", "paired by jupytext", write=saved(jupytext)),
    honest("file-bom", "begins with a byte order mark", write=lambda nb: "\ufeff" + plain(nb)),
    honest(
        "file-sorted", "keys sorted, indented by 4", write=saved(nothing, sort_keys=True, indent=4)
    ),
    honest(
        "file-one-line",
        "all in one line, ASCII only, no end of line",
        write=saved(nothing, indent=None, separators=(",", ":"), ensure_ascii=True),
    ),
    honest(
        "file-windows",
        "line ends of Windows in the file",
        write=lambda nb: plain(nb).replace("\n", "\r\n"),
    ),
    honest("file-windows-cells", "line ends of Windows in all cells", write=saved(windows)),
    honest(
        "file-blank-lines", "blank lines around the JSON", write=lambda nb: f"\n\n{plain(nb)}\n\n"
    ),
    honest(
        "kernel-my-env", "a kernel called myenv", write=saved(kernel("myenv", "Python (myenv)"))
    ),
    honest(
        "kernel-conda",
        "a kernel of conda, with an odd name",
        write=saved(kernel("conda-env-fx-py", "Python [conda env:fx] *")),
    ),
    honest("kernel-none", "no kernel and no language", write=saved(no_metadata)),
    honest("counts-out-of-order", "cells were run in any order", write=saved(counts_out_of_order)),
    honest("big-outputs", "outputs of 5 MB", write=saved(big_outputs)),
    honest("odd-outputs", "outputs of older programs", write=saved(odd_outputs)),
    honest("tags-and-slides", "tags, slides and a title", write=saved(tags_and_slides)),
]
