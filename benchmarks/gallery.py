"""The gallery: one run for each of its problems, and what came of them.

    gallery.py begin --kernelbench PATH --home runs/strict     # a run for each problem that has none in the home
    gallery.py begin --kernelbench PATH --home runs/tf32 --precision tf32
    gallery.py propose --home runs/strict --author NAME        # what lies in gallery/proposals/ and was not told yet
    gallery.py report --home strict=runs/strict --home tf32=runs/tf32
    gallery.py check                                           # every bundle holds, every figure is a bundle's

`begin` makes runs of the default method that wait for answers and for jobs (docs/howto/offline.md). `propose` hands
them the candidates below gallery/proposals/, those whose names end in _tf32 only where a precision is given; with
`--champions HOME` those alone, and the champions of that home. `report` writes the champions with their evidence below
gallery/, and table and data into results/. The first home is the headline; a problem that it does not have, or that is
not verified, is a failure in the table. Other homes, and a precision, are for KernelBench's problems alone: the others
state their own.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from gallery_page import PLOT, Columns, draw, page, table_rows, write_csv
from gallery_proposals import Column, tell_all
from gallery_rows import asked, shown_of

from kernwright import api
from kernwright.core.errors import MachineFault, UserError
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine import intake
from kernwright.engine.bench_report import NOT_RUN
from kernwright.engine.bundles.facts import Refused
from kernwright.engine.bundles.verifying import verify
from kernwright.engine.exporting import BUNDLE_SUFFIX
from kernwright.engine.reading import reading_all
from kernwright.store.codec import to_json

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "gallery"
RESULTS = ROOT / "benchmarks" / "results"
JOURNAL = "journal.json"


def main() -> None:
    arguments = _arguments()
    try:
        {"begin": begin, "propose": propose, "report": report, "check": check}[arguments.command](arguments)
    except (UserError, MachineFault, Refused) as error:
        raise SystemExit(str(error)) from None


def begin(arguments: argparse.Namespace) -> None:
    """A run for each problem that the home has none of; what is there already stays as it is."""
    home = intake.home_of(arguments.home[0])
    with reading_all(home) as views:
        known = {view.problem.id for view in views}
    operators = tuple(_operator(text) for text in arguments.operator or ("mailbox", "compiler", "tuner"))
    for key, name, rules in _named(arguments):
        problem = intake.problem_of(name, rules)
        if problem.id in known:
            print(f"{key}: has its run")
            continue
        run = api.begin(
            name,
            rules=rules,
            home=home,
            target=arguments.target,
            executor=arguments.executor,
            operators=operators,
            budget=Budget(proposals=arguments.proposals),
            author=arguments.author,
        )
        print(f"{key}: {run}")


def propose(arguments: argparse.Namespace) -> None:
    """What lies in proposals/, to the runs of the home."""
    home = intake.home_of(arguments.home[0])
    with reading_all(home) as views:
        runs = {view.problem.id: view.id for view in views}
    named = {key: runs.get(intake.problem_of(name, rules).id) for key, name, rules in _named(arguments)}
    if missing := [key for key, run in named.items() if run is None]:
        raise SystemExit(f"There is no run of {', '.join(missing)} in {home}; make it with begin.")
    run_of = {key: run for key, run in named.items() if run is not None}
    folder = arguments.gallery / "proposals"
    champions = intake.home_of(arguments.champions) if arguments.champions else None
    column = Column(home=home, run_of=run_of, precision=arguments.precision, champions=champions)
    for said in tell_all(column, folder, arguments.author):
        print(said, flush=True)


def report(arguments: argparse.Namespace) -> None:
    """Kernels, bundles and journals below the gallery; page, plot, table and data."""
    gallery, keys = arguments.gallery, _keys(arguments)
    columns: Columns = {}
    for number, text in enumerate(arguments.home):
        name, _, home = text.rpartition("=")
        label = name or "strict float32"
        chosen = [key for key in keys if number == 0 or "/" in key]
        rows = shown_of(intake.home_of(home), chosen, gallery, label if number else "")
        columns = {**columns, label: [each for each in rows if not number or each.row.verdict != NOT_RUN]}
    for rows in columns.values():
        for each in rows:
            if each.folder and each.summary is not None:
                (gallery / each.folder).mkdir(parents=True, exist_ok=True)
                data = {"summary": asdict(each.summary), "course": [asdict(step) for step in each.course]}
                (gallery / each.folder / JOURNAL).write_text(json.dumps(data, indent=1) + "\n")
    arguments.out.mkdir(parents=True, exist_ok=True)
    flat = table_rows(columns)
    write_csv(arguments.out / "gallery.csv", flat)
    (arguments.out / "gallery.json").write_text(to_json(columns).decode() + "\n")
    draw(gallery / PLOT, columns)
    (gallery / "README.md").write_text(page(columns, gallery), encoding="utf-8")
    done = sum(row["verified"] for row in flat)
    print(f"{done} of {len(flat)} verified; see {gallery / 'README.md'} and {arguments.out / 'gallery.csv'}.")


def check(arguments: argparse.Namespace) -> None:
    """Raises SystemExit where a bundle is refused, or the table says what no bundle says."""
    rows = {row["bundle"]: row for row in _csv(arguments.out / "gallery.csv") if row["verified"] == "True"}
    found = {}
    for path in sorted(arguments.gallery.rglob(f"*{BUNDLE_SUFFIX}")):
        verdict = verify(path)
        found[verdict.sealed.id] = verdict.stated.estimate
    wrong = [row["problem"] for id, row in rows.items() if found.get(id) != float(row["vs_faster"])]
    if wrong:
        raise SystemExit(f"The table has figures that no bundle has: {', '.join(wrong)}; write it anew with report.")
    print(f"{len(found)} bundles are consistent, and the table's {len(rows)} figures are theirs.")


def _named(arguments: argparse.Namespace) -> Iterator[tuple[str, str, dict[str, bool | int | float | str]]]:
    """Key, what names the problem to Kernwright, and the rules that differ from its own."""
    for key in _keys(arguments):
        level, slash, number = key.partition("/")
        if slash and arguments.kernelbench is None:
            raise SystemExit(f"{key} is of KernelBench; give a checkout with --kernelbench PATH.")
        if slash:
            rules = {"precision": arguments.precision} if arguments.precision else {}
            yield key, f"kernelbench:{arguments.kernelbench}#{level}/{number}", rules
        elif not arguments.precision:
            yield key, str(arguments.gallery / "problems" / f"{key}.py"), {}


def _keys(arguments: argparse.Namespace) -> list[str]:
    keys = asked(arguments.gallery / "problems.toml")
    chosen = arguments.only.split(",") if arguments.only else keys
    if unknown := [key for key in chosen if key not in keys]:
        raise SystemExit(f"{', '.join(unknown)} is not in {arguments.gallery / 'problems.toml'}.")
    return chosen


def _operator(text: str) -> OperatorSpec:
    name, _, settings = text.partition(":")
    return intake.operator_spec(name, intake.texts_of([settings], "The setting") if settings else {})


def _csv(path: Path) -> list[dict[str, str]]:
    import csv

    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("begin", "propose", "report", "check"))
    parser.add_argument("--home", action="append", help="a folder of runs; to report, COLUMN=FOLDER, several times")
    parser.add_argument("--only", help="keys such as level1/36,conv1d")
    parser.add_argument("--gallery", type=Path, default=GALLERY)
    parser.add_argument("--out", type=Path, default=RESULTS, help="of the table and the data")
    parser.add_argument("--kernelbench", help="a checkout")
    parser.add_argument("--precision", help="of KernelBench's problems: tf32, say")
    parser.add_argument("--champions", help="to propose: those of this home, and what is made for the precision alone")
    parser.add_argument("--target", default="cuda:sm_90a")
    parser.add_argument("--executor", default="jobs")
    parser.add_argument("--operator", action="append", help="NAME[:KEY=VALUE,...]; mailbox, compiler and tuner")
    parser.add_argument("--proposals", type=int, default=60)
    parser.add_argument("--author", default="", help="who writes the candidates, for the record")
    arguments = parser.parse_args()
    if arguments.home is None and arguments.command != "check":
        parser.error("--home is needed")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
