"""What the judge said of the sample kernels is said of those that are in the packs, and their notes say the same."""

import json
from pathlib import Path

import pytest

from kernwright.core.loading import import_file
from kernwright.knowledge.folders import read

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ROWS = json.loads((BENCHMARKS / "results" / "samples.json").read_text())
samples = import_file(BENCHMARKS / "samples.py", "samples")
FOLDERS = sorted(path.parent for path in samples.SAMPLES.glob("*/candidate.py"))
NOTES = {note.name: note for note in read(samples.SAMPLES).notes}


def test_every_sample_has_its_row_and_no_other_is_there() -> None:
    assert sorted(ROWS) == [folder.name for folder in FOLDERS]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_row_is_about_the_files_in_the_pack(folder: Path) -> None:
    assert ROWS[folder.name]["files"] == samples.files_of(folder), "run `python benchmarks/samples.py` again"


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row["speedup"]])
def test_the_note_of_a_sample_that_was_timed_gives_its_figure(name: str) -> None:
    evidence = NOTES[name].evidence
    assert samples.said(ROWS[name]) in evidence
    assert ROWS[name]["verdict"] in evidence
    assert ("verified as faster" in evidence) == ROWS[name]["faster"]
