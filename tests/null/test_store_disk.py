"""A disk that is really full: a file system of two megabytes, mounted where only the child process sees it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CHILD = """
import json, sys
from pathlib import Path
from kernwright.core.errors import MachineFault
from kernwright.core.events import RunFinished
from kernwright.store.sql import SqlStore

home = Path(sys.argv[1])
ballast = home / "ballast"
ballast.write_bytes(bytes(1_000_000))
store = SqlStore(home)
done, blobs, said = 0, [], []


def fill(step):
    try:
        while True:
            step()
    except MachineFault as fault:
        said.append(str(fault))


def append():
    global done
    store.append("run", RunFinished(reason="x" * 2000, champion=done))
    done += 1


def put():
    blobs.append(store.put(f"{len(blobs)}".encode() * 5000))


fill(append if sys.argv[2] == "append" else put)
left = [path.name for path in home.rglob(".*")]
before = [entry.event.champion for entry in store.events("run")]
ballast.unlink()
append()
blobs.append(store.put(b"later"))
store.close()
store = SqlStore(home)
after = [entry.event.champion for entry in store.events("run")]
sizes = [len(store.get(blob)) for blob in blobs]
print(json.dumps({"said": said, "done": done, "before": before, "after": after, "sizes": sizes, "left": left}))
"""


def on_small_disk(folder: Path, what: str) -> dict[str, Any]:
    """What the child reports of a run on a disk of 2 MB; skips where this user may not mount one."""
    folder.mkdir()
    mount = 'mount -t tmpfs -o size=2m,mode=777 tmpfs "$1" && shift && exec "$@"'
    for namespace in (["--mount"], ["--user", "--map-root-user", "--mount"]):
        command = ["unshare", *namespace, "sh", "-c", mount, "sh", str(folder)]
        try:
            probe = subprocess.run([*command, "true"], capture_output=True, check=False)
        except FileNotFoundError:
            break
        if probe.returncode == 0:
            child = [*command, sys.executable, "-c", CHILD, str(folder), what]
            output = subprocess.run(child, capture_output=True, text=True, check=False, timeout=120)
            assert output.returncode == 0, output.stderr
            return dict(json.loads(output.stdout))
    pytest.skip("to mount a small disk needs unshare(1) and root or user namespaces")


def test_a_full_disk_costs_no_event_that_was_appended(tmp_path: Path) -> None:
    report = on_small_disk(tmp_path / "small", "append")
    assert len(report["said"]) == 1
    assert "The disk is full" in report["said"][0]
    assert "free space and `kernwright resume run`" in report["said"][0]
    assert report["before"] == list(range(report["done"] - 1))
    assert len(report["before"]) > 20
    assert report["after"] == list(range(report["done"]))


def test_a_full_disk_leaves_no_half_blob(tmp_path: Path) -> None:
    report = on_small_disk(tmp_path / "small", "blob")
    assert "The disk is full" in report["said"][0]
    assert "free space and `kernwright resume RUN`" in report["said"][0]
    assert report["left"] == []
    assert len(report["sizes"]) > 20
    assert report["sizes"][-1] == 5
    assert all(size >= 5000 for size in report["sizes"][:-1])
