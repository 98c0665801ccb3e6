"""One JupyterLab for all browser tests; a browser for each module."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.builder.paths import ROOT
from tests.browser.desk import AXE, CHROMIUM, SCREENSHOTS, Lab, running_lab


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab on a new workspace, started by `fxcourse lab`."""
    with running_lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture(scope="module")
def page(lab: Lab) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        tab = browser.new_page(viewport={"width": 1280, "height": 1600})
        tab.set_default_timeout(60_000)
        yield tab
        browser.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which checks accessibility; npm downloads it once."""
    kept = ROOT / "build" / f"axe-{AXE}.min.js"
    if not kept.exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("axe-core is fetched by npm, and there is no npm on this machine")
        kept.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:  # tests may run in parallel
            _fetch(npm, Path(folder)).replace(kept)
    return kept.read_text(encoding="utf-8")


def _fetch(npm: str, folder: Path) -> Path:
    """Download axe-core into a folder with npm; return the path of its source."""
    command = [npm, "pack", f"axe-core@{AXE}", "--silent"]
    packed = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if packed.returncode:
        pytest.skip(f"npm could not fetch axe-core: {packed.stderr.strip()[-200:]}")
    archive = folder / packed.stdout.strip().splitlines()[-1]
    with tarfile.open(fileobj=io.BytesIO(archive.read_bytes())) as tar:
        member = tar.extractfile("package/axe.min.js")
        assert member is not None
        text = folder / "axe.min.js"
        text.write_bytes(member.read())
    return text
