"""What a loader compiled is loaded as code, so no other user of the machine may have put it there."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.engine.exporting import stand_alone
from kernwright.languages import loader_folder as module
from kernwright.languages.cuda_loader import load as load_cuda
from kernwright.languages.loader_folder import loader_folder

MAIN = '''\
from kernwright.languages.cpp_loader import load

lib = load("""
#include <cstdint>
extern "C" void put(int64_t* x) { *x = 42; }
""")


class Cell:
    def data_ptr(self):
        import ctypes
        self.value = ctypes.c_int64(0)
        return ctypes.addressof(self.value)


cell = Cell()
lib.put(cell)
print(cell.value.value)
'''


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go, which anyone may write into."""
    monkeypatch.delenv("KERNWRIGHT_ARTIFACTS", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    module._fresh_folder.cache_clear()
    return tmp_path


def predictable(place: Path) -> Path:
    return place / f"kernels-{os.geteuid()}"


def require_private(folder: Path, place: Path) -> None:
    about = folder.lstat()
    assert folder.parent == place
    assert not folder.is_symlink()
    assert about.st_uid == os.geteuid()
    assert about.st_mode & 0o777 == 0o700


def test_the_users_own_folder_is_kept(place: Path) -> None:
    assert loader_folder() == loader_folder() == predictable(place)
    require_private(predictable(place), place)


def test_a_build_has_its_own_folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNWRIGHT_ARTIFACTS", str(place / "artifacts"))
    assert loader_folder() == place / "artifacts"
    assert not predictable(place).exists()


@pytest.mark.parametrize("mode", [0o777, 0o720, 0o702])
def test_a_folder_that_others_may_write_into_is_not_used(place: Path, mode: int) -> None:
    predictable(place).mkdir()
    predictable(place).chmod(mode)
    assert loader_folder() != predictable(place)
    assert loader_folder() == loader_folder()
    require_private(loader_folder(), place)


def test_neither_is_a_link(place: Path) -> None:
    (place / "theirs").mkdir(mode=0o700)
    predictable(place).symlink_to(place / "theirs")
    assert loader_folder() not in (predictable(place), place / "theirs")
    require_private(loader_folder(), place)


def test_neither_is_a_file(place: Path) -> None:
    predictable(place).touch()
    require_private(loader_folder(), place)


def test_neither_is_the_folder_of_another_user(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: maker + 1)
    planted = predictable(place)
    planted.mkdir(mode=0o700)
    assert loader_folder() != planted
    assert loader_folder().parent == place


def exported(place: Path) -> str:
    """What an exported kernel prints whose loader runs with temporary files in this place."""
    candidate = Candidate(language="cpp", files=(SourceFile(name="main.py", text=MAIN),))
    (place / "exported.py").write_text(stand_alone(candidate))
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": str(place)}
    done = subprocess.run(
        [sys.executable, str(place / "exported.py")], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_exported_kernel_loads_nothing_that_was_planted(tmp_path: Path) -> None:
    assert exported(tmp_path) == "42\n"
    (made,) = predictable(tmp_path).glob("*.so")
    (tmp_path / "evil.cpp").write_text('#include <cstdint>\nextern "C" void put(int64_t* x) { *x = 666; }\n')
    subprocess.run(["g++", "-shared", "-fPIC", "-o", str(made), str(tmp_path / "evil.cpp")], check=True)
    assert exported(tmp_path) == "666\n", "what lies in the user's own folder is loaded"
    predictable(tmp_path).chmod(0o777)
    assert exported(tmp_path) == "42\n"
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"exported.py", "evil.cpp", predictable(tmp_path).name}, "the fresh folder goes with its process"


def test_device_code_is_kept_in_the_same_folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Path] = []

    def compile_cubin(source: str, options: list[str], out: Path) -> None:
        found.append(out.parent)
        raise RuntimeError("stopped here")

    monkeypatch.setattr("kernwright.languages.cuda_loader.compile_cubin", compile_cubin)
    monkeypatch.setenv("KERNWRIGHT_TARGET", "cuda:sm_90a")
    predictable(place).mkdir()
    predictable(place).chmod(0o777)
    with pytest.raises(RuntimeError, match="stopped here"):
        load_cuda("\n")
    require_private(found[0], place)
