"""IPython magics and help requests."""

from tests.security.unusual_but_honest import RETARGET, cell, honest

SUBMISSIONS = [
    honest(
        "magics-with-the-answer",
        "magics in the answer's own cell, as if it were the first of a notebook",
        answers={
            "retarget": "%matplotlib inline\n%load_ext autoreload\n%autoreload 2\n"
            f"%config InlineBackend.figure_format = 'svg'\n!echo ready\n\n{RETARGET}"
        },
    ),
    honest("time-cell", "%%time over the answer", answers={"retarget": f"%%time\n{RETARGET}"}),
    honest(
        "time-lines",
        "%time and %timeit, once and as a cell",
        cell("%time sum(range(1000))\nbest = %timeit -n1 -r1 -o sum(range(1000))"),
        cell("%%timeit -n1 -r1\nsum(range(1000))"),
    ),
    honest(
        "capture",
        "%%capture, and what was captured shown",
        cell("%%capture seen\nprint('kept')"),
        cell("seen.show()\nseen.stdout"),
    ),
    honest(
        "autoreload",
        "%autoreload 2, with a module beside the notebook",
        cell("%load_ext autoreload\n%autoreload 2\nimport beside_it\nbeside_it.one"),
        extra_files={"beside_it.py": "one = 1"},
    ),
    honest("pip-list", "%pip list", cell("%pip list")),
    honest(
        "shell",
        "commands of the shell, one of which fails",
        cell("!echo hello\nfiles = !ls\nfiles[:1]\n!no-such-command-anywhere"),
    ),
    honest("bash", "a cell in %%bash", cell("%%bash\nfor i in 1 2; do echo $i; done")),
    honest("debugger-off", "%pdb off and %xmode Plain", cell("%pdb off\n%xmode Plain")),
    honest("who", "%who, %whos and %history", cell("x = 1\n%who\n%whos\n%history -l 2")),
    honest("cd", "%cd to the folder above, and never back", cell("%cd ..\n%pwd")),
    honest(
        "env", "%env sets a variable", cell("%env FX_LEVEL=3\nimport os\nos.environ['FX_LEVEL']")
    ),
    honest(
        "run-file",
        "%run of a file beside the notebook, whose names are used",
        cell("%run helper_file.py\nprint(old_and_new)"),
        extra_files={"helper_file.py": "old_and_new = ('add', 'mul')\nprint('running', __name__)"},
    ),
    honest(
        "write-and-import",
        "the answer is written with %%writefile and imported",
        cell(
            "%%writefile written_answer.py\nfrom torch import fx\n\n"
            + RETARGET.replace("def retarget", "def written"),
        ),
        answers={"retarget": "from written_answer import written as retarget"},
    ),
    honest(
        "questions",
        "help with ? and ??, of things that are there and that are not",
        cell("torch.fx?"),
        cell("?fx.Node"),
        cell("fx.symbolic_trace??"),
        cell("no_such_name?"),
        cell("*Tracer*?"),
    ),
    honest("help", "help() of a class", cell("help(fx.Node)")),
    honest(
        "earlier-outputs",
        "Out, In, _ and __ are used",
        cell("40 + 2"),
        cell("assert _ == 42 and Out and In\n_ + 1"),
        cell("assert (_, __) == (43, 42)\nsorted(Out)[-1]"),
    ),
    honest(
        "html-cells",
        "cells in %%html, %%latex and %%markdown",
        cell("%%html\n<b>bold</b><script>console.log(1)</script>"),
        cell("%%latex\n$x$"),
        cell("%%markdown\n- one"),
    ),
    honest(
        "config",
        "%config of the pictures, %precision and an alias",
        cell(
            "%config InlineBackend.figure_format = 'retina'\n%precision 3\n%alias say echo\n%say x"
        ),
    ),
    honest(
        "every-expression",
        "all expressions of a cell are shown, not the last only",
        cell("""
            from IPython.core.interactiveshell import InteractiveShell

            InteractiveShell.ast_node_interactivity = "all"
        """),
        cell("1\n2\n3"),
    ),
    honest(
        "magic-that-is-not-there",
        "%load_ext of something that is not installed",
        cell("%load_ext no_such_extension"),
        cell("%no_such_magic"),
    ),
    honest(
        "hooks",
        "a function that IPython calls after each cell, and one that takes the time",
        cell("""
            import time

            def note_the_time(*_):
                times.append(time.perf_counter())

            times = []
            get_ipython().events.register("post_run_cell", note_the_time)
        """),
    ),
    honest("prun", "%prun and %%prun", cell("%prun -q sum(range(10))"), cell("%%prun -q\nx = 1")),
]
