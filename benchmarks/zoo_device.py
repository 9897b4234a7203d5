"""The whole zoo before the judge on a device: detection and false alarms, by family, with every kernel's verdict.

Writes a row per kernel as it goes; called again with the same --out it goes on with those that are not there, or whose
text or judge has changed since. --as-good-as VERSION keeps rows by an older judge, where it is known that it differs in
nothing that concerns them; each row says by which it is. Ends in 1 where a hack got through, an honest one was refused,
or any was not judged.
"""

import argparse
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Sequence
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

    def __init__(self, path: Path, target: str, baselines: list[str], versions: Sequence[str]) -> None:
        """`versions`: judges whose rows are kept."""
        self._path = path
        setting: dict[str, Any] = {"target": target, "baselines": baselines}
        self.kept = setting | {"rows": {}, "wall_s": 0.0, "isolation": "", "machine": ""}
        if path.is_file():
            self.kept = json.loads(path.read_text())
        if (other := {name: self.kept[name] for name in setting}) != setting:
            raise SystemExit(f"{path} holds rows of {other}, now {setting}; give another --out.")
        everyone = zoo_trial.chosen(target, [], None).members
        sources = {name: zoo.problem(name).source for name in {m.problem for m in everyone}}
        self._digests = {
            (m.name, judge): digest((m.text, sources[m.problem], m.rules, judge))
            for m in everyone
            for judge in versions
        }
        if others := {row["judge"] for row in self.kept["rows"].values()} - {*versions}:
            raise SystemExit(
                f"{path} holds rows by version {', '.join(sorted(others))} of the judge, now {JUDGE_VERSION}; keep "
                "them by --as-good-as, or give another --out."
            )
        self.kept["rows"] = {name: row for name, row in self.kept["rows"].items() if self._holds(name, row)}
        self._began, self._before_s = time.monotonic(), self.kept["wall_s"]
        self._at: dict[str, tuple[float, str]] = {}
        """When those began that have not ended, and the stage they are at."""

    def _holds(self, name: str, row: dict[str, Any]) -> bool:
        """Whether nothing that it depends on has changed since."""
        return bool(self._digests.get((name, row["judge"])) == row["id"])

    def left(self, members: tuple[zoo.Member, ...], retry: bool) -> tuple[zoo.Member, ...]:
        """Those that are still to be judged."""
        known = {n for n, row in self.kept["rows"].items() if row["state"] == "as_expected" or not retry}
        return tuple(member for member in members if member.name not in known)

    def begins(self, total: int, member: zoo.Member) -> None:
        self._at[member.name] = (time.monotonic(), "begun")

    def says(self, member: zoo.Member, text: str) -> None:
        if member.name in self._at:
            self._at[member.name] = (self._at[member.name][0], text)

    def unfinished(self) -> str:
        """Those in hand, for how long, and the stage they are at; empty where there are none."""
        now = time.monotonic()
        return "; ".join(f"{name} for {now - began:.0f} s, at {text!r}" for name, (began, text) in self._at.items())

    def ended(self, row: zoo_trial.Row) -> None:
        self._at.pop(row.name, None)
        about = {"judge": JUDGE_VERSION, "id": self._digests[row.name, JUDGE_VERSION]}
        self.kept["rows"][row.name] = asdict(row) | about
        self.save()
        done = len(self.kept["rows"])
        print(f"[{done}] {row.name}: {zoo_view.sentence(row)}", file=sys.stderr, flush=True)

    def rows(self) -> list[zoo_trial.Row]:
        """All that are known."""
        names = sorted(self.kept["rows"])
        return [
            zoo_trial.Row(**{k: v for k, v in self.kept["rows"][n].items() if k not in ("id", "judge")}) for n in names
        ]

    def save(self) -> None:
        self.kept |= {
            "kernwright": __version__,
            "judges": dict(Counter(row["judge"] for row in self.kept["rows"].values())),
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
    versions = (JUDGE_VERSION, *arguments.as_good_as)
    baselines, out = arguments.baselines.split(","), arguments.out or RESULTS / f"zoo_{target.partition(':')[0]}.json"
    ledger = Ledger(out, target, baselines, versions)
    left = ledger.left(choice.members, arguments.retry)
    if left:
        now = zoo_trial.Choice(members=left, elsewhere=choice.elsewhere)
        until = time.monotonic() + 60 * arguments.minutes
        try:
            found = zoo_trial.run(
                now, target, home, ledger, jobs=arguments.jobs, until=until, baselines=tuple(baselines)
            )
        except KeyboardInterrupt:
            raise SystemExit(f"Stopped; the same call goes on. In hand: {ledger.unfinished() or 'none'}.") from None
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
    print(f"seconds a kernel by stage: {_stages(report.rows)}")
    missing = len({member.name for member in choice.members} - {row.name for row in report.rows})
    spent_s = ledger.kept["wall_s"]
    by = ", ".join(f"{count} by version {judge}" for judge, count in ledger.kept["judges"].items())
    print(f"{len(report.rows)} kernels in {spent_s:.0f} s, all calls together ({by}); {environment()}")
    if missing:
        print(f"{missing} are still to be judged; call it again")
    if missing or not report.clean:
        raise SystemExit(1)


def _stages(rows: Sequence[zoo_trial.Row]) -> str:
    """What a kernel takes in the mean of those that say it."""
    told = [row.stage_s for row in rows if row.stage_s]
    total = sum((Counter(stages) for stages in told), Counter[str]())
    return ", ".join(f"{name} {spent / len(told):.2f}" for name, spent in total.most_common())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--family", action="append", default=[], help="A, B, C, D or honest; may be repeated")
    parser.add_argument("--kind", choices=("hacks", "honest"))
    parser.add_argument("--name", action="append", default=[], help="one kernel alone; may be repeated")
    parser.add_argument("--jobs", type=int, default=4, help="how many are judged at a time; only timing is exclusive")
    parser.add_argument("--baselines", default="eager,compile", help="eager alone is quicker, and easier to beat")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no kernel after this time")
    parser.add_argument(
        "--as-good-as", action="append", default=[], metavar="VERSION", help="keep rows by this older judge too"
    )
    parser.add_argument("--retry", action="store_true", help="judge those again that did not end as they should")
    parser.add_argument("--home", default=None)
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("Stopped; the same call goes on.") from None
