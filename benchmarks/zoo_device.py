"""The whole zoo before the judge on a device: detection and false alarms, by family, with every kernel's verdict.

Writes a row per kernel as it goes; called again with the same --out it goes on with those that are not there, or whose
text or judge has changed since. Ends in 1 where a hack got through, an honest one was refused, or any was not judged.
"""

import argparse
import json
import math
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from environment import environment

from kernwright import __version__, zoo
from kernwright.cli import screen, zoo_view
from kernwright.core.digest import digest
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.engine import intake, zoo_trial
from kernwright.engine.targets import target_of

RESULTS = Path(__file__).parent / "results"


class Ledger:
    """What is known of each kernel, on disk; and the zoo's watch."""

    def __init__(self, path: Path, target: str) -> None:
        self._path = path
        self.kept: dict[str, Any] = {"target": target, "rows": {}, "wall_s": 0.0, "isolation": "", "machine": ""}
        if path.is_file():
            self.kept = json.loads(path.read_text())
        if self.kept["target"] != target:
            raise SystemExit(f"{path} holds rows of {self.kept['target']}, now {target}; give another --out.")
        everyone = zoo_trial.chosen(target, [], None).members
        sources = {name: zoo.problem(name).source for name in {m.problem for m in everyone}}
        self._digests = {m.name: digest((m.text, sources[m.problem], m.rules, JUDGE_VERSION)) for m in everyone}
        rows = self.kept["rows"].items()
        self.kept["rows"] = {name: row for name, row in rows if self._digests.get(name) == row["id"]}
        self._began, self._before_s = time.monotonic(), self.kept["wall_s"]

    def left(self, members: tuple[zoo.Member, ...], retry: bool) -> tuple[zoo.Member, ...]:
        """Those that are still to be judged."""
        known = {n for n, row in self.kept["rows"].items() if row["state"] == "as_expected" or not retry}
        return tuple(member for member in members if member.name not in known)

    def begins(self, total: int, member: zoo.Member) -> None:
        """Beginnings are not kept."""

    def says(self, member: zoo.Member, text: str) -> None:
        """Stages are not kept."""

    def ended(self, row: zoo_trial.Row) -> None:
        self.kept["rows"][row.name] = asdict(row) | {"id": self._digests[row.name]}
        self.save()
        done = len(self.kept["rows"])
        print(f"[{done}] {row.name}: {zoo_view.sentence(row)}", file=sys.stderr, flush=True)

    def rows(self) -> list[zoo_trial.Row]:
        """All that are known."""
        names = sorted(self.kept["rows"])
        return [zoo_trial.Row(**{k: v for k, v in self.kept["rows"][n].items() if k != "id"}) for n in names]

    def save(self) -> None:
        self.kept |= {
            "kernwright": __version__,
            "judge_version": JUDGE_VERSION,
            "environment": environment(),
            "wall_s": round(self._before_s + time.monotonic() - self._began, 1),
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(self.kept, indent=1) + "\n")
        part.replace(self._path)


def main() -> None:
    arguments = _arguments()
    target = target_of(arguments.target)
    home = intake.writable_home(arguments.home)
    choice = zoo_trial.chosen(target, arguments.family, arguments.kind, arguments.name)
    ledger = Ledger(arguments.out or RESULTS / f"zoo_{target.partition(':')[0]}.json", target)
    left = ledger.left(choice.members, arguments.retry)
    if left:
        now = zoo_trial.Choice(members=left, elsewhere=choice.elsewhere)
        until = time.monotonic() + 60 * arguments.minutes
        found = zoo_trial.run(now, target, home, ledger, jobs=arguments.jobs, until=until)
        ledger.kept |= {"isolation": found.isolation, "machine": found.machine}
    report = zoo_trial.report(
        ledger.rows(),
        target=target,
        isolation=ledger.kept["isolation"],
        machine=ledger.kept["machine"],
        elsewhere=choice.elsewhere,
    )
    ledger.kept |= {
        "detection": asdict(report.detection),
        "false_alarms": asdict(report.false_alarms),
        "families": [asdict(family) for family in report.families],
        "elsewhere": choice.elsewhere,
    }
    ledger.save()
    screen.show(*zoo_view.view(report))
    missing = len({member.name for member in choice.members} - {row.name for row in report.rows})
    spent_s = ledger.kept["wall_s"]
    print(f"{len(report.rows)} kernels in {spent_s:.0f} s, all calls together; {environment()}")
    if missing:
        print(f"{missing} are still to be judged; call it again")
    if missing or not report.clean:
        raise SystemExit(1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--family", action="append", default=[], help="A, B, C, D or honest; may be repeated")
    parser.add_argument("--kind", choices=("hacks", "honest"))
    parser.add_argument("--name", action="append", default=[], help="one kernel alone; may be repeated")
    parser.add_argument("--jobs", type=int, default=4, help="how many are judged at a time; only timing is exclusive")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no kernel after this time")
    parser.add_argument("--retry", action="store_true", help="judge those again that did not end as they should")
    parser.add_argument("--home", default=None)
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("Stopped; every row so far is kept, and the same call goes on.") from None
