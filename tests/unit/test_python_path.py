"""What is installed in a folder on `PYTHONPATH` alone is there for runners too; a project on it is not."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from kernwright.core.errors import UserError
from kernwright.engine import doctor
from kernwright.evaluation.participants import launch
from kernwright.evaluation.runner import namespaces

SOURCE = Path(launch.__file__).parents[3]
RUNNER = """
import importlib, json

def act(sock, config):
    found = {}
    for name in json.loads(sock.recv(65536))["modules"]:
        try:
            found[name] = str(getattr(importlib.import_module(name), "PLACE", "there"))
        except ImportError:
            found[name] = "not there"
    sock.send(json.dumps({"answer": found}).encode())
"""
JUDGE = """
import sys
from pathlib import Path
from kernwright.evaluation.participants.launch import Confinement, Launcher

search, scratch, *modules = sys.argv[1:]
Path(scratch).mkdir()
with Launcher(runner="told:act", search=[Path(search)]) as launcher:
    runner = launcher.spawn(Confinement(scratch=Path(scratch)), {})
    runner.send({"modules": modules})
    print(runner.receive(60)["answer"])
    runner.close()
"""


def installed(folder: Path, name: str, place: str) -> Path:
    (folder / f"{name}-1.0.dist-info").mkdir(parents=True)
    (folder / f"{name}.py").write_text(f"PLACE = {place!r}\n")
    return folder


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """An interpreter that nothing is installed in."""
    venv.create(tmp_path / "bare", symlinks=True)
    return tmp_path / "bare"


def test_packages_are_found_where_the_judge_finds_them(bare: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (own,) = bare.glob("lib/python*/site-packages")
    installed(own, "twice", "its own folder")
    library = installed(tmp_path / "library", "twice", "the path")
    project = tmp_path / "project"
    project.mkdir()
    (project / "private.py").write_text("PLACE = 'a project'\n")
    told = tmp_path / "search"
    told.mkdir()
    (told / "told.py").write_text(RUNNER)
    path = os.pathsep.join(map(str, (SOURCE, library, project, sysconfig.get_path("purelib"))))
    words = (told, tmp_path / "scratch", "torch", "scipy", "twice", "private")
    done = subprocess.run(
        [str(bare / "bin" / "python"), "-P", "-c", JUDGE, *map(str, words)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    found = {"torch": "there", "scipy": "there", "twice": "the path", "private": "not there"}
    assert (done.stdout.strip(), done.stderr) == (str(found), "")


def test_a_library_is_a_folder_that_packages_were_installed_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = installed(tmp_path / "library", "some", "the path")
    (tmp_path / "project").mkdir()
    folders = ["", str(tmp_path / "project"), str(library), str(tmp_path / "absent"), sysconfig.get_path("purelib")]
    monkeypatch.setattr(sys, "path", folders)
    assert namespaces.libraries() == [str(library)]
    readable = namespaces.readable_paths([], [])
    assert str(library) in readable
    assert str(tmp_path / "project") not in readable


def test_a_torch_that_runners_do_not_find_is_not_said_to_be_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a checkout of it on `PYTHONPATH` is."""
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    monkeypatch.setattr(sys, "executable", str(bare))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with pytest.raises(UserError, match=f"PyTorch is at {tmp_path / 'torch'}, where this Python finds it and runners"):
        launch.Launcher(runner="told:act")
    monkeypatch.setattr(doctor, "_installed", lambda package: "2.13.0")
    (line,) = doctor._isolation()
    assert (line.state, line.found) == ("fail", "no runner starts")
    assert line.remedy.startswith(f"PyTorch is at {tmp_path / 'torch'}")
