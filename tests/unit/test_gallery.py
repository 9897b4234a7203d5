"""The gallery's script: figures are those of bundles, failures are rows, and a table that says more is refused."""

import csv
import json
import os
import subprocess
import sys
import tarfile
from contextlib import closing
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest
from judged_runs import searched

pytest.importorskip("torch")
pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.engine import service
from kernwright.engine.bench_report import Row
from kernwright.engine.bundles.verifying import verify
from kernwright.engine.reading import reading_all
from kernwright.problems.file import File
from kernwright.store.sql import SqlStore

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "gallery.py"
GALLERY = ROOT / "gallery"


def gallery(*arguments: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MPLBACKEND": "agg"}
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=False)


def homes(folder: Path) -> tuple[str, ...]:
    return ("--home", f"strict={folder / 'strict'}", "--home", f"tf32={folder / 'tf32'}")


def places(folder: Path) -> tuple[str, ...]:
    return ("--gallery", str(folder / "gallery"), "--out", str(folder / "results"))


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gallery of two columns, written once."""
    folder = tmp_path_factory.mktemp("gallery")
    (folder / "gallery").mkdir()
    listed = '[kernelbench]\nlevel1 = [36, 40]\n[production]\nfiles = ["conv1d", "map_id"]\n'
    (folder / "gallery" / "problems.toml").write_text(listed)
    searched(folder / "strict", "level1_36_RMSNorm_", 2.5)
    searched(folder / "strict", "conv1d", 1.3)
    searched(folder / "strict", "map_id", None)
    searched(folder / "tf32", "level1_36_RMSNorm_", 1.7)
    done = gallery("report", *homes(folder), *places(folder))
    assert done.returncode == 0, done.stderr
    assert "3 of 5 verified" in done.stdout
    return folder


def table(folder: Path) -> dict[tuple[str, str], dict[str, str]]:
    with (folder / "results" / "gallery.csv").open(newline="") as file:
        return {(row["problem"], row["column"]): row for row in csv.DictReader(file)}


def test_every_figure_is_that_of_a_bundle_that_holds(shown: Path) -> None:
    rows = table(shown)
    for place, key in (
        ("level1-36-rmsnorm", ("level1/36", "strict")),
        ("level1-36-rmsnorm/tf32", ("level1/36", "tf32")),
    ):
        verdict = verify(shown / "gallery" / place / "kernel.bundle.json")
        assert rows[key]["bundle"] == verdict.sealed.id
        assert float(rows[key]["vs_faster"]) == verdict.stated.estimate
        assert "def kernel" in (shown / "gallery" / place / "kernel.py").read_text()
        summary = json.loads((shown / "gallery" / place / "journal.json").read_text())["summary"]
        assert (summary["proposals"], summary["correct"], summary["evaluations"]) == (1, 1, 2)
        assert summary["device_s"] == 1.0


def test_failures_are_rows_without_figures(shown: Path) -> None:
    rows = table(shown)
    wrong, missing = rows["map_id", "strict"], rows["level1/40", "strict"]
    assert (wrong["verdict"], wrong["vs_faster"], wrong["bundle"]) == ("wrong", "", "")
    assert (missing["verdict"], missing["reason"]) == ("not_run", "no run of it is there")
    assert ("map_id", "tf32") not in rows
    assert ("level1/40", "tf32") not in rows
    assert "No run in this column: level1/40.\n" in (shown / "gallery" / "README.md").read_text()
    assert [path.name for path in shown.glob("gallery/map-id/*")] == ["journal.json"]


def test_the_page_has_totals_table_stories_and_plot(shown: Path) -> None:
    text = (shown / "gallery" / "README.md").read_text()
    assert "4 problems, verified 50" in text
    assert "off by \\| one" in text
    assert (
        text.index("The three that gained most") < text.index("**level1/36**") < text.index("Three that did not move")
    )
    assert "rows in registers" in text
    (shown / "gallery" / "map-id" / "story.md").write_text("Nobody saw that the table is sorted.\n")
    assert gallery("report", *homes(shown), *places(shown)).returncode == 0
    assert "**map_id**: Nobody saw that the table is sorted." in (shown / "gallery" / "README.md").read_text()
    assert (shown / "gallery" / "speedups.svg").read_text().startswith("<?xml")


def test_a_table_with_a_figure_of_its_own_is_refused(shown: Path) -> None:
    where = places(shown)
    assert "3 bundles are consistent, and the table's 3 figures are theirs" in gallery("check", *where).stdout
    path = shown / "results" / "gallery.csv"
    kept = path.read_text()
    figure = table(shown)["conv1d", "strict"]["vs_faster"]
    try:
        path.write_text(kept.replace(figure, "9.5"))
        done = gallery("check", *where)
    finally:
        path.write_text(kept)
    assert done.returncode == 1
    assert "figures that no bundle has: conv1d" in done.stderr


def test_a_run_is_begun_for_each_problem_once(tmp_path: Path) -> None:
    begin = ("begin", "--home", tmp_path, "--only", "conv1d,map_id")
    assert gallery(*begin).returncode == 0
    again = gallery(*begin)
    assert again.stdout == "conv1d: has its run\nmap_id: has its run\n", again.stderr
    with closing(SqlStore(tmp_path)) as store:
        runs = store.runs()
    assert [run[9:-5] for run in runs] == ["conv1d", "map-id"]
    node = service.place(tmp_path, "map-id")
    said = Candidate(language="torch", files=(SourceFile(name="k.py", text="def kernel(ids):\n    return ids\n"),))
    assert service.tell(tmp_path, "map-id", node, said) is None


def test_proposals_are_told_once_each(tmp_path: Path) -> None:
    home = ("--home", tmp_path, "--only", "map_id")
    assert "no run of map_id" in gallery("propose", *home).stderr
    assert gallery("begin", *home).returncode == 0
    there = len([path for path in (GALLERY / "proposals" / "map_id").glob("[0-9]*.py")])
    assert gallery("propose", *home).stdout == f"map_id: {there} of {there} told\n"
    assert gallery("propose", *home).stdout == f"map_id: 0 of {there} told\n"
    with reading_all(tmp_path) as [view]:
        assert len(view.graph.nodes) == there


def test_another_column_begins_with_the_champions_of_the_first(tmp_path: Path) -> None:
    with tarfile.open(GALLERY / "journals" / "strict.tar.xz") as journals:
        # Before 3.11.4 there is no filter; these are the repository's own files.
        journals.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    home = ("--home", tmp_path / "other", "--only", "map_id")
    assert gallery("begin", *home).returncode == 0
    assert gallery("propose", *home, "--champions", tmp_path / "strict").stdout == "map_id: 1 of 1 told\n"
    assert gallery("propose", *home, "--champions", tmp_path / "strict").stdout == "map_id: 0 of 1 told\n"
    with reading_all(tmp_path / "other") as [view]:
        [node] = view.graph.nodes
        first, *_ = view.candidate(node).files[0].text.splitlines()
        assert first in (GALLERY / "map-id" / "kernel.py").read_text()


def test_what_is_published_holds() -> None:
    done = gallery("check")
    assert done.returncode == 0, done.stderr
    assert "bundles are consistent" in done.stdout


def test_the_list_names_files_that_are_there() -> None:
    import tomllib

    listed = tomllib.loads((GALLERY / "problems.toml").read_text())
    there = sorted(path.stem for path in (GALLERY / "problems").glob("*.py"))
    assert sorted(listed["production"]["files"]) == there
    for name in there:
        problem = File().load(str(GALLERY / "problems" / f"{name}.py"))
        assert problem.name == name
        assert len(problem.timed) < len(problem.workloads)


def test_what_the_paper_says_stands_beside_what_was_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    beside_the_paper = import_module("gallery_published").beside_the_paper
    shown = partial(import_module("gallery_rows").Shown, row=Row(problem="p", verdict="verified", reason=""))
    (tmp_path / "published.toml").write_text(
        "[a]\nsmall = [2.0, 2.6]\nlarge = [1.2, 1.2]\nnarrow = [3.0, 4.0]\n[b]\nw = [2, 2]\n[elsewhere]\nw = [2, 2]\n"
    )
    times = {
        "small": {"candidate": 10.0, "eager": 21.0, "compile": 12.0},
        "large": {"candidate": 10.0, "eager": 11.0, "compile": 11.0},
        "narrow": {"candidate": 10.0, "eager": 20.0, "compile": 20.0},
    }
    verified = shown(key="a", times_ns=times, copies_ns={"small": 5.0, "large": 5.0, "narrow": 8.0})
    for name in ("a-folder", "b-folder"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "story.md").write_text(f"why {name}\n")
    rows = [replace(verified, folder="a-folder"), shown(key="b", folder="b-folder")]
    lines = beside_the_paper(rows, tmp_path)
    assert [line for line in lines if "why" in line] == ["**a**: why a-folder"]  # of what was verified and missed
    assert [line for line in lines if line.startswith(("| a", "| b"))] == [
        "| a | small | 2 to 2.6x | 2.10x | 1.20x | 4.20x | yes |",
        "| a | large | 1.2x | 1.10x | 1.10x | 2.20x | no |",
        "| a | narrow | 3 to 4x | 2.00x | 2.00x | 2.50x | no, nor would a copy |",
        "| b | w | 2x | - | - | - | not verified |",
    ]
    assert beside_the_paper([verified], tmp_path / "nowhere") == []
