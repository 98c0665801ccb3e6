"""Less common Python features in cells that students added."""

from tests.security.unusual_but_honest import RETARGET, cell, honest

SUBMISSIONS = [
    honest(
        "awaits",
        "await at the top of a cell, and functions that are async",
        cell("""
            import asyncio

            async def later(value):
                await asyncio.sleep(0.01)
                return value

            found = await later(3)
            await asyncio.gather(later(1), later(2))
        """),
    ),
    honest(
        "imports-processes",
        "subprocess and multiprocessing are imported, and a process is run",
        cell("""
            import multiprocessing
            import subprocess
            import sys

            multiprocessing.cpu_count()
            subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, check=False)
        """),
    ),
    honest(
        "temporary-files",
        "files in temporary folders, by tempfile and in the working directory",
        cell("""
            import tempfile
            from pathlib import Path

            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "a.txt").write_text("äö", encoding="utf-8")
            with tempfile.NamedTemporaryFile("w+") as file:
                file.write("x")
            Path("notes").mkdir(exist_ok=True)
            Path("notes/a.txt").write_text("kept")
            assert Path("notes/a.txt").read_text() == "kept"
        """),
    ),
    honest(
        "database",
        "a database of sqlite3, in memory and in a file",
        cell("""
            import sqlite3

            for place in (":memory:", "runs.db"):
                with sqlite3.connect(place) as db:
                    db.execute("create table if not exists run (loss real)")
                    db.execute("insert into run values (0.5)")
        """),
    ),
    honest(
        "threads",
        "a pool of threads, and a thread that ends by itself a little later",
        cell("""
            import threading
            import time
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(4) as pool:
                print(list(pool.map(lambda x: x * x, range(8))))
            threading.Thread(target=time.sleep, args=(1.5,)).start()
            threading.Thread(target=lambda: print("from a thread"), daemon=True).start()
        """),
    ),
    honest(
        "timer",
        "a timer that prints while later cells run",
        cell("import threading\nthreading.Timer(0.2, print, ['late']).start()"),
    ),
    honest(
        "logs",
        "logging set to DEBUG for everything, matplotlib and torch too",
        cell("""
            import logging

            logging.basicConfig(level=logging.DEBUG, force=True)
            logging.getLogger("mine").debug("detail")
            logging.getLogger().error("not really")
        """),
    ),
    honest(
        "round-trips",
        "json, pickle and torch.save of data of one's own",
        cell("""
            import io
            import json
            import pickle

            data = {"names": ["a", "b"], "shape": (1, 2)}
            assert pickle.loads(pickle.dumps(data)) == data
            json.loads(json.dumps(data))
            torch.save({"w": torch.ones(2)}, "weights.pt")
            torch.load("weights.pt")
            torch.save(torch.ones(2), io.BytesIO())
        """),
    ),
    honest(
        "dataclasses",
        "dataclasses, enums and a class that is pickled from the notebook",
        cell("""
            import pickle
            from dataclasses import dataclass, field
            from enum import Enum, auto

            class Kind(Enum):
                OLD = auto()
                NEW = auto()

            @dataclass(order=True, frozen=True, slots=True)
            class Edit:
                name: str
                kind: Kind = field(default=Kind.NEW, compare=False)

            assert pickle.loads(pickle.dumps(Edit("a"))) == Edit("a")
        """),
    ),
    honest(
        "typing",
        "protocols, generics, overloads and annotations that cannot be evaluated",
        cell("""
            from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, overload

            if TYPE_CHECKING:
                from nowhere import Nothing

            T = TypeVar("T")

            class Pass(Protocol):
                def __call__(self, gm: fx.GraphModule) -> fx.GraphModule: ...

            class Box(Generic[T]):
                value: "Nothing | None" = None

            @overload
            def f(x: int) -> int: ...
            @overload
            def f(x: str) -> str: ...
            def f(x):
                return x
        """),
    ),
    honest(
        "caches",
        "functions with lru_cache, a cached property and a generator",
        cell("""
            from functools import cache, cached_property, lru_cache

            @cache
            def fib(n):
                return n if n < 2 else fib(n - 1) + fib(n - 2)

            class Lazy:
                @cached_property
                def graph(self):
                    return fx.Graph()

            def numbers():
                yield from range(3)

            fib(90), Lazy().graph, [*numbers()]
        """),
    ),
    honest(
        "main-guard",
        'if __name__ == "__main__": around an experiment',
        cell("""
            def main():
                print(fx.symbolic_trace(nn.ReLU()).code)

            if __name__ == "__main__":
                main()
        """),
    ),
    honest(
        "future",
        "from __future__ import annotations, alone in the first cell and above the answer",
        cell("from __future__ import annotations"),
        answers={"retarget": "from __future__ import annotations\n\n" + RETARGET},
    ),
    honest(
        "hidden-names",
        "names of builtins are used for variables",
        cell("list = [1, 2]\nstr = 'text'\ntype = id = sum = max = None\nprint(list, str)"),
        answers={"retarget": RETARGET},
    ),
    honest(
        "names-of-the-course",
        "names that the course uses mean something else later",
        cell("old_fx = fx\nmodel = nodes = names = graph = node = gm = x = result = 5"),
        cell("check = hint = draw = progress = None", below="check-remove_dropout"),
    ),
    honest(
        "match",
        "match, the walrus, positional-only parameters, f-strings in f-strings",
        cell("""
            def kind(node, /, *, short=False):
                match node.op:
                    case "placeholder" | "get_attr" as op if not short:
                        return f"in {op!r:>20}"
                    case _:
                        return node.op

            if (n := len([kind(node) for node in fx.symbolic_trace(nn.ReLU()).graph.nodes])) > 1:
                print(f"{n=}")
        """),
    ),
    honest(
        "cell-that-raises",
        "an experiment that raises was left in the middle",
        cell("fx.symbolic_trace(lambda x: x if x.sum() else -x)"),
        cell("1 / 0", below="retarget"),
    ),
    honest(
        "syntax-error",
        "a cell that is no Python was left in the middle",
        cell("for node in gm.graph.nodes\n    print(node"),
        cell("# try this next\n$ pip install torch", below="retarget"),
    ),
    honest(
        "own-exceptions",
        "groups of exceptions, chained ones, and one without words",
        cell("""
            class Odd(Exception):
                def __str__(self):
                    raise RuntimeError("no words")

            try:
                raise Odd
            except Odd as error:
                raise ExceptionGroup("several", [error, ValueError("x")]) from error
        """),
    ),
    honest(
        "deep-recursion",
        "a function that calls itself for ever was left in",
        cell("def again(n):\n    return again(n + 1)\n\nagain(0)"),
    ),
    honest("assertion", "an assert of one's own that does not hold", cell("assert 1 == 2, 'why?'")),
    honest(
        "interrupted",
        "KeyboardInterrupt is raised, as by the stop button",
        cell("raise KeyboardInterrupt"),
    ),
    honest("exits", "exit(), to stop before the cells below", cell("import sys\nsys.exit()")),
    honest(
        "slow-cell",
        "a cell that works for 8 seconds",
        cell("""
            import time

            end = time.process_time() + 8
            while time.process_time() < end:
                sum(range(1000))
        """),
    ),
    honest("sleeps", "a cell that sleeps for 5 seconds", cell("import time\ntime.sleep(5)")),
    honest(
        "memory",
        "some hundred megabytes that are kept",
        cell("kept = [torch.ones(1024, 1024, 8) for _ in range(8)]\nlen(kept)"),
    ),
]
