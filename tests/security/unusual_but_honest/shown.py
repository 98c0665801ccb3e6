"""Cell outputs: text, warnings, pictures, displays that change."""

from tests.security.unusual_but_honest import RETARGET, cell, honest

SUBMISSIONS = [
    honest(
        "warns",
        "warnings of its own, and every one of them always shown",
        cell("""
            import warnings

            warnings.simplefilter("always")
            warnings.warn("this will change")
            warnings.warn("this is old", DeprecationWarning, stacklevel=2)
        """),
    ),
    honest(
        "warns-when-called",
        "the answer warns and writes to stderr whenever it is called",
        answers={
            "retarget": """
                import sys
                import warnings

                def retarget(model, old, new):
                    warnings.warn("retarget is called")
                    print("called", file=sys.stderr)
                    gm = fx.symbolic_trace(model)
                    for node in gm.graph.find_nodes(op="call_function", target=old):
                        node.target = new
                    gm.recompile()
                    return gm
            """
        },
    ),
    honest(
        "stderr",
        "text on stderr, in parts and without an end of line",
        cell("""
            import sys

            for part in ("a", "b", "\\n", "no end of line"):
                sys.stderr.write(part)
                sys.stderr.flush()
        """),
    ),
    honest(
        "torch-deprecations",
        "calls of PyTorch that warn about themselves",
        cell("""
            torch.meshgrid(torch.arange(2), torch.arange(3))
            torch.tensor(torch.ones(2))
            F.softmax(torch.ones(2, 2))
            torch.ones(2, 3, 4).T
        """),
    ),
    honest(
        "plots",
        "pictures of matplotlib in the notebook",
        cell("""
            %matplotlib inline
            import matplotlib.pyplot as plt

            plt.plot([1, 3, 2])
            plt.title("loss")
            plt.show()
        """),
    ),
    honest(
        "plots-many",
        "several figures from one cell, one of which stays open",
        cell("""
            import matplotlib.pyplot as plt

            for number in range(6):
                plt.figure(figsize=(2, 2))
                plt.imshow(torch.rand(8, 8))
            plt.show()
            plt.figure()
        """),
    ),
    honest(
        "plots-last",
        "a figure as the last expression of a cell",
        cell("""
            import matplotlib.pyplot as plt

            figure, axes = plt.subplots(1, 2)
            axes[0].hist(torch.randn(500).numpy(), bins=20)
            figure
        """),
    ),
    honest(
        "plots-saved",
        "a figure is saved beside the notebook, with the backend Agg",
        cell("""
            import matplotlib

            matplotlib.use("Agg")
            import matplotlib.pyplot as plt

            plt.plot([0, 1])
            plt.savefig("figure.png")
        """),
    ),
    honest(
        "draws",
        "graphs drawn with draw, and a difference",
        cell(
            """
            class Tiny(nn.Module):
                def forward(self, x):
                    return torch.relu(torch.add(x, 1))

            gm = retarget(Tiny(), torch.add, torch.mul)
            draw(gm)
            draw.diff(fx.symbolic_trace(Tiny()), gm, "what changed")
            """,
            below="retarget",
        ),
    ),
    honest(
        "prints-much",
        "10,000 lines",
        cell("for line in range(10_000):\n    print(line, 'of the training log')"),
    ),
    honest(
        "prints-unicode",
        "characters of many scripts, also half ones",
        cell("""
            print("äöüß 漢字 עברית العربية 🎉 \\u202eturned\\u202c a\\u0301 \\x1b[31mred\\x1b[0m")
            print("\\ud83d".encode("utf-8", "surrogatepass"))
            print("bell \\a, backspace \\b, null \\0")
        """),
    ),
    honest(
        "prints-bytes",
        "bytes written to the buffer of stdout, where there is one",
        cell("""
            import sys

            if hasattr(sys.stdout, "buffer"):
                sys.stdout.buffer.write(b"raw bytes\\n")
        """),
    ),
    honest(
        "progress-bar",
        "a progress bar that writes over itself",
        cell("""
            import time

            for step in range(101):
                print(f"\\r{step:3} % {'#' * (step // 5):20}", end="", flush=True)
                time.sleep(0.002)
        """),
    ),
    honest(
        "answer-prints",
        "the answer prints every node it looks at",
        answers={"retarget": RETARGET.replace("    gm.re", "        print(node)\n    gm.re")},
    ),
    honest(
        "displays",
        "HTML, markdown, LaTeX, JSON and pictures by display",
        cell("""
            from IPython.display import HTML, JSON, Latex, Markdown, SVG, display

            display(HTML("<table><tr><td><b>1</b></td></tr></table>"), Markdown("**bold** $x<y$"))
            display(Latex("$\\\\frac{a}{b}$"), JSON({"a": [1, None]}), SVG("<svg></svg>"))
        """),
    ),
    honest(
        "display-handles",
        "a display that is updated, and outputs that are cleared",
        cell("""
            from IPython.display import clear_output, display, update_display

            handle = display("0 %", display_id=True)
            handle.update("50 %")
            update_display("100 %", display_id=handle.display_id)
            for step in range(5):
                clear_output(wait=True)
                print("step", step)
            clear_output()
        """),
    ),
    honest(
        "display-script",
        "a script that scrolls the page, as front ends' recipes have it",
        cell("""
            from IPython.display import HTML, Javascript, display

            display(Javascript("window.scrollTo(0, 0)"))
            HTML("<style>.container { width: 100% !important; }</style>")
        """),
    ),
    honest(
        "widgets",
        "a slider and a progress bar of ipywidgets, if they are installed",
        cell("""
            try:
                import ipywidgets as widgets
            except ImportError:
                print("no widgets here")
            else:
                display(widgets.IntSlider(value=3))
                widgets.Button(description="run")
        """),
    ),
    honest(
        "own-reprs",
        "objects with displays of their own, one of which raises",
        cell("""
            class Shown:
                def _repr_html_(self):
                    return "<i>shown</i>"

            class Broken:
                def __repr__(self):
                    raise ValueError("no words for this")

            display(Shown())
            Broken()
        """),
    ),
    honest(
        "big-values",
        "large values as last expressions",
        cell("list(range(100_000))"),
        cell("torch.randn(500, 500)"),
        cell("{'text': 'x' * 1_000_000}"),
    ),
]
