"""The lint of exercises: each needs only the chapter's first code cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.builder.source import read
from autograder.builder.standalone import findings
from tests.support import build_fixture

FIRST = "from torch import fx, nn\n\nsize = 4"


def messages(folder: Path, *cells: str) -> list[str]:
    """Return the lint's messages for these cells; the last two belong to exercise `one`."""
    *above, shown, solved = cells
    body = "".join(f"# %%\n{cell}\n\n" for cell in above)
    body += f'# %% [markdown] card="one"\n# Do it.\n\n# %%\n{shown}\n\n'
    body += f'# %% solve="one"\n{solved}\n\n# %% check="one"\none\n'
    path = build_fixture.write(folder, "# %% [markdown]\n# # Alone\n\n" + body)
    return [problem.message for problem in findings(read(path)[0])]


ANSWER = "def one(model):\n    return [node for node in model.graph.nodes][:size]"


@pytest.mark.parametrize(
    ("shown", "solved", "missing"),
    [
        ("print(net)", ANSWER, "net"),
        ("fx.symbolic_trace(Net())", ANSWER, "Net"),
        ("[net for _ in range(size)]", ANSWER, "net"),
        ("class Small(Net):\n    pass", ANSWER, "Net"),
        ("print(size)", "def one(model):\n    return helper(model)", "helper"),
        ("%timeit net", ANSWER, ""),
        ("for net in (nn.ReLU(),):\n    print(net, size)", ANSWER, ""),
        ("def net(x, y=size):\n    return x + y\nnet(1)", ANSWER, ""),
    ],
)
def test_a_name_of_a_cell_above_is_found(
    shown: str, solved: str, missing: str, tmp_path: Path
) -> None:
    found = messages(tmp_path, FIRST, "class Net: ...\nnet = Net()\nhelper = len", shown, solved)
    said = f"Exercise 'one' needs {missing} of a cell above its card."
    assert found == ([said] if missing else [])
