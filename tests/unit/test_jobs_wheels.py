"""The wheels that a machine without a network lacks, from a folder of small ones instead of an index."""

import shlex
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "gather_wheels.py"
PROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
BACKEND = """\
def build_wheel(folder, settings=None, metadata=None):
    import shutil
    shutil.copy("own-1.0-py3-none-any.whl", folder)
    return "own-1.0-py3-none-any.whl"
"""


def wheel(folder: Path, name: str, version: str, *requires: str, tag: str = "py3-none-any", extra: str = "") -> Path:
    path = folder / f"{name}-{version}-{tag}.whl"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Provides-Extra: {extra}"] if extra else []
    lines += [f"Requires-Dist: {text}" for text in requires]
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", "")
        archive.writestr(f"{info}/METADATA", "\n".join(lines) + "\n")
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """A project that wants `a`, and with its extra `b`; what they want in turn."""
    project, index = tmp_path / "project", tmp_path / "index"
    project.mkdir()
    index.mkdir()
    (project / "pyproject.toml").write_text(PROJECT)
    (project / "backend.py").write_text(BACKEND)
    newer = 'c>=2; python_version >= "3.12"'
    wheel(project, "own", "1.0", "a>=1", "here>=3", 'b; extra == "more"', extra="more")
    wheel(index, "a", "1.0", newer, 'old; python_version < "3.12"')
    wheel(index, "a", "2.0", newer, 'old; python_version < "3.12"')
    wheel(index, "b", "1.0", "a<2")
    wheel(index, "c", "2.5", tag="cp312-cp312-manylinux_2_28_x86_64")
    wheel(index, "here", "3.5")
    return tmp_path


def gathered(root: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, SCRIPT, root / "wheels", "--project", root / "project", *options]
    return subprocess.run(
        [*map(str, command), "--", "--no-index", "--find-links", str(root / "index")], capture_output=True, text=True
    )


def names(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "wheels").glob("*.whl"))


def test_one_version_of_each_for_the_other_python(index: Path) -> None:
    (index / "list.txt").write_text("Package    Version\n---------- -------\nHere       3.1\n")
    done = gathered(index, "--extras", "more", "--extras", "", "--have", str(index / "list.txt"))
    assert done.returncode == 0, done.stderr
    assert names(index) == [
        "a-1.0-py3-none-any.whl",
        "b-1.0-py3-none-any.whl",
        "c-2.5-cp312-cp312-manylinux_2_28_x86_64.whl",
        "own-1.0-py3-none-any.whl",
    ]
    assert done.stdout.splitlines()[-2:] == [
        "python3.12 -m pip install --no-index --find-links wheels --no-deps --force-reinstall own",
        "python3.12 -m pip install --no-index --find-links wheels 'own[more]'",
    ]


def test_what_is_too_old_over_there_is_gathered(index: Path) -> None:
    (index / "list.txt").write_text("here==2.9\n")
    done = gathered(index, "--extras", "", "--have", str(index / "list.txt"))
    assert done.returncode == 0, done.stderr
    assert "here-3.5-py3-none-any.whl" in names(index)
    assert "a-2.0-py3-none-any.whl" in names(index)
    assert "here 2.9 over there is not >=3" in done.stdout


def test_two_versions_in_the_folder_are_refused(index: Path) -> None:
    (index / "wheels").mkdir()
    wheel(index / "wheels", "a", "1.5")
    done = gathered(index, "--extras", "")
    assert done.returncode == 1
    assert "a-1.5-py3-none-any.whl, a-2.0-py3-none-any.whl" in done.stderr


def test_what_no_wheel_is_there_for_is_named(index: Path) -> None:
    done = gathered(index, "--extras", "", "--python", "3.11")
    assert done.returncode == 1
    assert "pip gave no wheel for old (a)" in done.stderr
    assert "no extra nothing" in gathered(index, "--extras", "nothing").stderr


def test_a_build_of_the_same_version_is_replaced_and_what_it_needs_is_not(index: Path) -> None:
    (index / "list.txt").write_text("here==3.5\n")
    done = gathered(index, "--extras", "more", "--have", str(index / "list.txt"))
    assert done.returncode == 0, done.stderr
    venv.create(index / "there", with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(index / "there" / "bin" / "python"), "--no-input"]
    [site] = (index / "there").glob("lib/python*/site-packages")
    older = index / "older"
    older.mkdir()
    for name, version in (("own", "1.0"), ("a", "1.0"), ("here", "3.5")):
        subprocess.run([*pip, "install", "--no-deps", wheel(older, name, version)], check=True, capture_output=True)
        (site / f"{name}.py").write_text("# older\n")
    for line in done.stdout.split("install with:\n")[1].splitlines():
        words = shlex.split(line)
        assert words[:3] == ["python3.12", "-m", "pip"]
        subprocess.run([*pip, *words[3:]], check=True, capture_output=True, cwd=index)
    assert (site / "own.py").read_text() == ""
    assert (site / "b.py").is_file()
    assert [(site / f"{name}.py").read_text() for name in ("a", "here")] == ["# older\n"] * 2


@pytest.mark.parametrize("glibc", ["2.28", "2.28-0ubuntu3", "glibc 2.28", "ldd (Debian GLIBC 2.28-9+deb12u4) 2.28"])
def test_a_c_library_is_read_out_of_what_its_machine_says(index: Path, glibc: str) -> None:
    done = gathered(index, "--extras", "", "--glibc", glibc)
    assert done.returncode == 0, done.stderr
    assert "c-2.5-cp312-cp312-manylinux_2_28_x86_64.whl" in names(index)


def test_an_older_c_library_has_no_use_for_newer_wheels(index: Path) -> None:
    assert "pip gave no wheel for c" in gathered(index, "--extras", "", "--glibc", "2.27-3").stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--glibc", "musl 1.2"), "--glibc 'musl 1.2' names no version such as 2.35; ask ldd --version over there."),
        (("--have", "nowhere.txt"), "nowhere.txt cannot be read (No such file or directory)"),
        (("--have", "project"), "cannot be read (Is a directory)"),
    ],
)
def test_options_that_say_nothing_are_refused(
    index: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, str], sentence: str
) -> None:
    monkeypatch.chdir(index)
    done = gathered(index, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert not (index / "wheels").exists()


def test_a_list_that_is_no_text_or_names_nothing_is_refused(index: Path) -> None:
    for data, sentence in ((b"\xff\xfe1", "is no text"), (b"nothing", "names no package")):
        (index / "list.txt").write_bytes(data)
        done = gathered(index, "--have", str(index / "list.txt"))
        assert done.returncode == 2
        assert sentence in done.stderr
        assert "Traceback" not in done.stderr


def test_a_file_is_no_folder_for_wheels(index: Path) -> None:
    (index / "wheels").write_text("a file")
    done = gathered(index)
    assert (done.returncode, done.stdout) == (2, "")
    assert "wheels cannot be filled (File exists); name another folder." in done.stderr
    assert "Traceback" not in done.stderr
