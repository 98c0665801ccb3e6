"""The folder that `fxcourse classroom hub` writes: each file can be read by what it is for."""

from __future__ import annotations

import asyncio
import json
import os
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from traitlets.config import Config, PyFileConfigLoader
from typer.testing import CliRunner, Result

from autograder.classroom.setup.pack import DOCKERFILE
from autograder.classroom.setup.wheel import TORCH_CPU
from autograder.cli.classroom import app
from tests.support.numbers import numbers_room

COURSE = "fx101"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class, and the folder for its Hub."""
    home = tmp_path_factory.mktemp("hub")
    numbers_room.room(home).rename(home / COURSE)
    done = run(
        "hub", home / COURSE, "--to", home / "hub", "--exchange", "/srv/x", "--instructor", "prof",
        "--registry", "example.org/fx/",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "A student's server may use 2G of memory." in done.output
    return home


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(app, list(map(str, words)))


def loaded(path: Path) -> Config:
    """A file of settings, as Jupyter's programs load it."""
    return Config(PyFileConfigLoader(path.name, path=str(path.parent)).load_config())


def test_the_files(home: Path) -> None:
    found = {path.relative_to(home / "hub").as_posix() for path in (home / "hub").rglob("*.*")}
    found = {name for name in found if (home / "hub" / name).is_file()}
    wheels = {name for name in found if name.endswith(".whl")}
    assert {name.partition("/")[0] for name in wheels} == {"student", "instructor"}
    own = [
        "requirements.txt", "jupyter/nbgrader_config.py", "jupyter/jupyter_server_config.json",
        "jupyter/labconfig/page_config.json", "jupyter/labconfig/default_setting_overrides.json",
    ]  # fmt: skip
    expected = {"README.md", "values.yaml", f"jupyterhub_config.d/{COURSE}.py"}
    assert found - wheels == expected | {f"{r}/{n}" for r in ("student", "instructor") for n in own}


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_students_can_read_their_files_and_not_the_hidden_cases(home: Path) -> None:
    folder = home / "hub"
    assert folder.stat().st_mode & 0o777 == 0o755
    assert (folder / "student/jupyter/nbgrader_config.py").stat().st_mode & 0o777 == 0o644
    assert (folder / "instructor").stat().st_mode & 0o777 == 0o700


def test_only_the_instructors_wheel_is_whole(home: Path) -> None:
    names = {}
    for role in ("student", "instructor"):
        (wheel,) = (home / "hub" / role).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            names[role] = archive.namelist()
    assert not [name for name in names["student"] if "redraws" in name or "/classroom/" in name]
    assert [name for name in names["instructor"] if "redraws" in name]
    parts = ("setup/hub/templates/README.md.txt", "report.html", "cases.py.txt", "memory.json")
    for part in parts:
        assert [name for name in names["instructor"] if name.endswith(part)], part


def test_the_requirements_have_nbgrader_and_no_cuda(home: Path) -> None:
    for role in ("student", "instructor"):
        text = (home / "hub" / role / "requirements.txt").read_text(encoding="utf-8")
        assert "\nnbgrader==" in text and "\ntorch==" in text
        assert not {"nvidia", "cuda", "triton"} & set(text.replace("-", " ").split())
        assert "nvidia-" not in text and "\ntriton" not in text


def test_images_take_pytorch_for_the_cpu_and_the_hubs_version(home: Path) -> None:
    texts = [(home / "hub" / role / "Dockerfile").read_text() for role in ("student", "instructor")]
    for text in (*texts, DOCKERFILE.format(name="n", wheel="w", python="3.11", index=TORCH_CPU)):
        lines = text.splitlines()
        assert "ARG HUB" in lines and f"ARG TORCH_INDEX={TORCH_CPU}" in lines
        assert 'test -n "$HUB"' in text and 'jupyterhub=="$HUB"' in text
        assert '--extra-index-url "$TORCH_INDEX"' in text


def test_settings_of_the_hub(home: Path) -> None:
    config = loaded(home / "hub" / "jupyterhub_config.d" / f"{COURSE}.py")
    assert config.Spawner.mem_limit == "2G" and config.Spawner.mem_guarantee == "1G"
    assert config.Spawner.start_timeout == 180
    assert config.Spawner.environment.to_dict() == {"update": {"OMP_NUM_THREADS": "1"}}
    groups = config.JupyterHub.load_groups.to_dict()
    assert groups == {"update": {f"formgrade-{COURSE}": {"users": ["prof"]}}}


def test_instructors_share_the_server_of_an_account(home: Path) -> None:
    words = ("hub", home / COURSE, "--to", home / "shared", "--account", "staff")
    assert "name each person who uses it" in run(*words).output.replace("\n", " ")
    assert run(*words, "--instructor", "kim", "--instructor", "lee").exit_code == 0
    hub = loaded(home / "shared" / "jupyterhub_config.d" / f"{COURSE}.py").JupyterHub
    (groups,) = hub.load_groups.to_dict().values()
    kim_and_lee = {f"graders-{COURSE}": {"users": ["kim", "lee"]}}
    assert groups == {f"formgrade-{COURSE}": {"users": ["staff"]}} | kim_and_lee
    (roles,) = hub.load_roles.to_dict().values()
    assert [role["scopes"] for role in roles] == [
        ["servers!user=staff", "access:servers!user=staff"]
    ]
    assert "/user/staff/formgrader" in (home / "shared" / "README.md").read_text(encoding="utf-8")


class Spawner(SimpleNamespace):
    """A server that is about to start."""

    def has_trait(self, name: str) -> bool:
        return name in vars(self)


def started(home: Path, *groups: str, **traits: Any) -> Spawner:
    """A server of a user in these groups, after the hook of the settings."""
    hook = loaded(home / "hub" / "jupyterhub_config.d" / f"{COURSE}.py").Spawner.pre_spawn_hook
    user = SimpleNamespace(groups=[SimpleNamespace(name=group) for group in groups])
    spawner = Spawner(user=user, environment={"A": "1"}, **traits)
    asyncio.run(hook(spawner))
    return spawner


def test_a_student_and_an_instructor_get_their_own_environment(home: Path) -> None:
    student = started(home)
    assert student.cmd == [str(home / "hub/student/env/bin/jupyterhub-singleuser")]
    assert student.environment["JUPYTER_CONFIG_PATH"] == str(home / "hub/student/jupyter")
    assert student.environment["A"] == "1" and not student.has_trait("mem_limit")
    instructor = started(home, "others", f"formgrade-{COURSE}")
    assert instructor.cmd == [str(home / "hub/instructor/env/bin/jupyterhub-singleuser")]
    assert instructor.mem_limit == "4G"


def test_a_student_and_an_instructor_get_their_own_image(home: Path) -> None:
    assert started(home, image="").image == f"example.org/fx/{COURSE}-student"
    instructor = started(home, f"formgrade-{COURSE}", image="")
    assert instructor.image == f"example.org/fx/{COURSE}-instructor"
    assert not instructor.has_trait("cmd")


def test_a_hook_of_the_hub_is_kept(home: Path) -> None:
    called = []
    loader = PyFileConfigLoader(f"{COURSE}.py", path=str(home / "hub" / "jupyterhub_config.d"))
    loader.config.Spawner.pre_spawn_hook = called.append
    loader.clear = lambda: None  # type: ignore[method-assign]
    hook = Config(loader.load_config()).Spawner.pre_spawn_hook
    spawner = Spawner(user=SimpleNamespace(groups=[]), environment={}, image="")
    asyncio.run(hook(spawner))
    assert called == [spawner]


def test_settings_of_nbgrader(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTERHUB_USER", "ann")
    config = loaded(home / "hub/student/jupyter/nbgrader_config.py")
    assert config.CourseDirectory.course_id == COURSE and config.Exchange.root == "/srv/x"
    assert config.CourseDirectory.student_id == "ann" and "root" not in config.CourseDirectory
    config = loaded(home / "hub/instructor/jupyter/nbgrader_config.py")
    assert config.CourseDirectory.course_id == COURSE and config.Exchange.root == "/srv/x"
    assert config.CourseDirectory.root == str(home / COURSE)
    assert "student_id" not in config.CourseDirectory
    assert config.ExchangeCollect.check_owner is False  # the Hub's user ann is not this user


def test_settings_of_jupyterlab(home: Path) -> None:
    def settings(role: str, name: str) -> dict[str, Any]:
        text = (home / "hub" / role / "jupyter" / name).read_text(encoding="utf-8")
        found: dict[str, Any] = json.loads(text)
        return found

    off = settings("student", "labconfig/page_config.json")["disabledExtensions"]
    names = ("create-assignment", "formgrader", "course-list")
    assert off == {f"@jupyter/nbgrader:{name}": True for name in names}
    server = settings("student", "jupyter_server_config.json")
    assert set(server["ServerApp"]["jpserver_extensions"].values()) == {False}
    assert server["MappingKernelManager"]["cull_idle_timeout"] == 7200
    assert (
        "jpserver_extensions"
        not in settings("instructor", "jupyter_server_config.json")["ServerApp"]
    )
    for role in ("student", "instructor"):
        news = settings(role, "labconfig/default_setting_overrides.json")
        assert news["@jupyterlab/apputils-extension:notification"] == {"fetchNews": "false"}


def test_values_of_kubernetes(home: Path) -> None:
    values = yaml.safe_load((home / "hub" / "values.yaml").read_text(encoding="utf-8"))
    (file,) = values["hub"]["extraFiles"].values()
    assert file["mountPath"].endswith(f"/jupyterhub_config.d/{COURSE}.py")
    config = (home / "hub" / "jupyterhub_config.d" / f"{COURSE}.py").read_text(encoding="utf-8")
    assert file["stringData"].strip() == config.strip()
    server = values["singleuser"]
    assert server["image"]["name"] == f"example.org/fx/{COURSE}-student"
    assert server["memory"] == {"limit": "2G", "guarantee": "1G"}
    (mount,), (volume,) = server["storage"]["extraVolumeMounts"], server["storage"]["extraVolumes"]
    assert mount["mountPath"] == "/srv/x" and mount["name"] == volume["name"]


def test_the_folder_is_written_again(home: Path) -> None:
    words = ("hub", home / COURSE, "--to", home / "again", "--registry", "new/")
    run("hub", home / COURSE, "--to", home / "again")
    (home / "again" / "student" / "env").mkdir()
    (home / "again" / "student" / "old-1-py3-none-any.whl").touch()
    assert run(*words, "--memory", "1500M").exit_code == 0
    config = loaded(home / "again" / "jupyterhub_config.d" / f"{COURSE}.py")
    assert config.Spawner.mem_limit == "1500M"
    assert len(list((home / "again").glob("*/*.whl"))) == 2
    assert (home / "again" / "student" / "env").is_dir()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--memory", "much"], "'much' is not a size"),
        (["--exchange", "here"], "must be an absolute path"),
    ],
)
def test_options_that_cannot_be_used(
    home: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    done = run("hub", home / COURSE, "--to", tmp_path / "hub", *options)
    assert done.exit_code == 1 and said in done.output.replace("\n", " ")
    assert not (tmp_path / "hub").exists()


def test_a_folder_with_other_files_is_left_alone(home: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    done = run("hub", home / COURSE, "--to", tmp_path)
    assert done.exit_code == 1 and "is not empty" in done.output.replace("\n", " ")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
