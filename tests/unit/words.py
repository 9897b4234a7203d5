"""A language whose candidates are words, for tests of what is compiled for all builds. Imported by runners too."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from kernwright.core.built import Built, Support
from kernwright.core.calls import CallSpec
from kernwright.core.candidate import Candidate
from kernwright.core.commons import VARIABLE, found, leave, place_of


class Words:
    """The first word of a file is what it has compiled for all."""

    name = "words"

    def supports(self, target: str) -> Support:
        return Support(ok=True)

    def recognises(self, files: Mapping[str, str]) -> bool:
        return False

    def emulates(self, target: str) -> Support:
        return Support(ok=False, reason="nothing does")

    def emulate(self, target: str, text: str) -> None: ...

    def build(self, candidate: Candidate, target: str, workdir: Path, calls: Sequence[CallSpec]) -> Built:
        artifacts = Path(os.environ["KERNWRIGHT_ARTIFACTS"])
        text = candidate.main.text.splitlines()[0].split()[1]
        numbers = {"found": 0.0, "made_beside": 0.0, "wrote": 0.0}
        if (common := found(text)) is not None:
            numbers["found"] = 1.0
            numbers["made_beside"] = float((common / "beside").read_text())
        else:
            leave(artifacts, "first", text)
        if "hostile" in text:
            _be_hostile(artifacts, numbers)
        return Built(artifacts=(), resources=numbers)

    def compile_common(self, text: str) -> None:
        if "impossible" in text:
            raise ValueError("no such word")
        artifacts = Path(os.environ["KERNWRIGHT_ARTIFACTS"])
        beside = [path.name for path in Path.cwd().iterdir() if path.name not in ("artifacts", "common.txt")]
        (artifacts / "beside").write_text(str(len(beside)))
        if "hostile" in text:
            for place in (artifacts / place_of("honest"), artifacts.parent / place_of("honest")):
                (place / "artifacts").mkdir(parents=True)
                (place / "artifacts" / "beside").write_text("666")


def _be_hostile(artifacts: Path, numbers: dict[str, float]) -> None:
    leave(artifacts, "long", "x" * 100_000)
    for number in range(9):
        leave(artifacts, f"of_many_{number}", f"many {number}")
    (artifacts / "common" / "a_link").symlink_to("/etc/hostname")
    (artifacts / "common" / "a_folder").mkdir()
    os.mkfifo(artifacts / "common" / "a_pipe")
    if common := os.environ.get(VARIABLE):
        try:
            (Path(common) / "mine").mkdir()
            numbers["wrote"] = 1.0
        except OSError:
            pass
