"""Settings of PyTorch, Python and the process that a cell changes and does not restore."""

from tests.security.unusual_but_honest import cell, honest

SUBMISSIONS = [
    honest(
        "seeds",
        "seeds of everything",
        cell("""
            import random

            import numpy as np

            random.seed(0), np.random.seed(0), torch.manual_seed(0)
            torch.use_deterministic_algorithms(True)
        """),
    ),
    honest("no-grad", "gradients switched off for good", cell("torch.set_grad_enabled(False)")),
    honest(
        "inference",
        "inference mode entered and not left",
        cell("""
            mode = torch.inference_mode()
            mode.__enter__()
            print(torch.is_inference_mode_enabled())
        """),
    ),
    honest(
        "doubles", "float64 is the default dtype", cell("torch.set_default_dtype(torch.float64)")
    ),
    honest(
        "device",
        "the default device is set to the processor",
        cell("""
            torch.set_default_device("cpu")
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            print(device)
        """),
    ),
    honest("threads-of-torch", "torch.set_num_threads(4)", cell("torch.set_num_threads(4)")),
    honest(
        "print-options",
        "print options of torch and numpy",
        cell("""
            import numpy as np

            torch.set_printoptions(precision=2, sci_mode=False, linewidth=300)
            np.set_printoptions(suppress=True)
            np.seterr(all="raise")
        """),
    ),
    honest(
        "backward",
        "a model is trained a little",
        cell("""
            net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 1))
            optimiser = torch.optim.Adam(net.parameters())
            for _ in range(20):
                optimiser.zero_grad()
                net(torch.randn(16, 4)).square().mean().backward()
                optimiser.step()
        """),
    ),
    honest(
        "loader",
        "a DataLoader without workers",
        cell("""
            from torch.utils.data import DataLoader, TensorDataset

            loader = DataLoader(TensorDataset(torch.randn(20, 3)), batch_size=4, num_workers=0)
            for (batch,) in loader:
                batch.sum()
        """),
    ),
    honest(
        "compilers",
        "torch.compile and torch.jit named, not run",
        cell("""
            class Plain(nn.Module):
                def forward(self, x):
                    return x + 1

            later = torch.compile(Plain())
            scripted = torch.jit.script(Plain())
        """),
    ),
    honest(
        "anomalies", "anomaly detection stays on", cell("torch.autograd.set_detect_anomaly(True)")
    ),
    honest(
        "hooks-of-modules",
        "a forward hook for all modules stays",
        cell("""
            calls = []
            nn.modules.module.register_module_forward_hook(
                lambda module, args, output: calls.append(type(module))
            )
        """),
    ),
    honest(
        "recursion-limit",
        "sys.setrecursionlimit(10_000)",
        cell("""
            import sys

            sys.setrecursionlimit(10_000)
        """),
    ),
    honest(
        "environment",
        "variables of the environment are set",
        cell("""
            import os

            os.environ["OMP_NUM_THREADS"] = "4"
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
            os.environ.pop("HOME", None)
        """),
    ),
    honest("folder-above", "os.chdir('..')", cell("import os\nos.chdir('..')")),
    honest(
        "folder-tmp", "os.chdir('/tmp')", cell("import os\nos.chdir('/tmp')\nopen('x.txt', 'w')")
    ),
    honest(
        "no-collection",
        "gc.disable(), after gc.collect()",
        cell("""
            import gc

            gc.collect()
            gc.disable()
        """),
    ),
    honest(
        "locale",
        "another locale, if it is there",
        cell("""
            import locale

            for name in ("de_DE.UTF-8", ""):
                try:
                    locale.setlocale(locale.LC_ALL, name)
                except locale.Error as error:
                    print(error)
        """),
    ),
    honest(
        "signals",
        "a handler for the stop button",
        cell("""
            import signal

            signal.signal(signal.SIGINT, lambda number, frame: print("stopped"))
        """),
    ),
    honest(
        "at-exit",
        "functions for the end of Python",
        cell("""
            import atexit

            atexit.register(print, "good bye")
            atexit.register(lambda: 1 / 0)
        """),
    ),
    honest(
        "search-path",
        "a folder on sys.path, and one that is not there",
        cell("""
            import sys

            sys.path.insert(0, "parts")
            sys.path.append("/no/such/folder")
            from part_of_mine import one
        """),
        cell("one"),
        extra_files={"part_of_mine.py": "one = 1"},
    ),
    honest(
        "own-stdout",
        "stdout is redirected to a file and comes back",
        cell("""
            import contextlib

            with open("log.txt", "w") as file, contextlib.redirect_stdout(file):
                print("into the file")
            print("and back")
        """),
    ),
    honest(
        "decimal",
        "settings of decimal and of integers",
        cell("""
            import decimal
            import sys

            decimal.getcontext().prec = 5
            sys.set_int_max_str_digits(0)
            len(str(10**6000))
        """),
    ),
    honest(
        "switch-trace",
        "sys.settrace and setprofile, set and taken back",
        cell("""
            import sys

            sys.settrace(lambda *args: None)
            sys.setprofile(lambda *args: None)
            sum([1])
            sys.settrace(None)
            sys.setprofile(None)
        """),
    ),
    honest(
        "sockets",
        "a download is tried, and its failure caught",
        cell("""
            import urllib.request

            try:
                urllib.request.urlopen("http://192.0.2.1/", timeout=0.5)
            except Exception as error:
                print(type(error).__name__)
        """),
    ),
    honest(
        "weights",
        "pretrained weights are asked for, and the failure caught",
        cell("""
            from torchvision.models import resnet18

            try:
                net = resnet18(weights=None)
            except Exception as error:
                print(error)
        """),
    ),
]
