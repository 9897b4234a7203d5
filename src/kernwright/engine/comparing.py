"""Several methods on the same problems, seeds, budget and judge. What is done is not done again."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from kernwright import __version__
from kernwright.core.digest import digest
from kernwright.core.errors import MachineFault, RunLocked, UserError
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.problem import Problem, Scalar
from kernwright.core.spec import RunSpec
from kernwright.landscape import VERSION
from kernwright.store.codec import decode, encode
from kernwright.store.disk import writing
from kernwright.store.sql import SqlStore

from . import intake, landscape, methods, service
from .bench_ledger import Begun, Ledger, opened
from .comparing_cells import Cell, Row, row_of
from .comparing_report import Comparison, summary_of, write

if TYPE_CHECKING:
    from .bench import Engine, Watch

KIND = "comparison"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be compared."""

    home: Path
    name: str
    methods: tuple[str, ...]
    """Names or paths; the first is what the others are compared with."""
    problems: tuple[str, ...]
    seeds: int
    settings: dict[str, Any]
    """Of every run, as `api.begin` takes them; they come before what a method says."""
    out: Path
    rules: dict[str, Scalar]
    on_landscape: bool = False
    plot: bool = False

    def cells(self) -> Iterator[Cell]:
        """All searches, seed by seed, so that what is there early is of every method and problem."""
        for seed in range(self.seeds):
            for problem in self.problems:
                for method in self.methods:
                    yield Cell(method=method, problem=problem, seed=seed)


class Told(Protocol):
    """Whoever watches a comparison."""

    watch: "Watch"

    def begins(self, number: int, total: int, cell: Cell) -> None: ...
    def ended(self, row: Row) -> None: ...


def compare(asked: Asked, told: Told) -> Comparison:
    """Do what is left to do; the report over all that was asked for, which is written in between too.

    Raises:
        RunLocked: another process works on the comparison.
        UserError: a name or setting is at fault, or a search was begun with other settings.
        KeyboardInterrupt: after Ctrl-C; what was finished is kept.
    """
    require(asked)
    specs = {method: _spec(asked, method) for method in asked.methods}
    asked = replace(asked, methods=tuple(specs))
    with opened(asked.home, asked.name, KIND) as ledger:
        if asked.on_landscape:
            return _Work(asked, specs, told, _Landscape(asked)).done()
        from .bench import engine_for  # needs what judging needs, which the landscape does without

        with closing(SqlStore(asked.home)) as store, engine_for(specs[asked.methods[0]], asked.home, store) as engine:
            return _Work(asked, specs, told, _Runs(asked, ledger, engine, told.watch)).done()


def require(asked: Asked) -> None:
    """Raises UserError for a comparison of nothing, or the same method twice."""
    for what, there in (("method", asked.methods), ("problem", asked.problems)):
        if not there:
            raise UserError(f"Name at least one {what} to compare.")
        twice = [each for each in there if there.count(each) > 1]
        if twice:
            raise UserError(f"The {what} {twice[0]!r} is named twice; name it once.")
    if asked.seeds < 1:
        raise UserError(f"{asked.seeds} seeds cannot be compared; give at least 1.")


def _spec(asked: Asked, method: str) -> RunSpec:
    if not asked.on_landscape:
        return intake.spec_of({**asked.settings, "method": method})
    plain = methods.applied(methods.load(method), asked.settings)
    if plain.get("memory") is not None:
        intake.remembering(plain)
    return RunSpec(**{**plain, "target": landscape.TARGET})


class _Work:
    def __init__(self, asked: Asked, specs: dict[str, RunSpec], told: Told, searches: "_Landscape | _Runs") -> None:
        self._asked, self._specs, self._told, self._searches = asked, specs, told, searches

    def done(self) -> Comparison:
        cells, rows = list(self._asked.cells()), list[Row]()
        todo: list[tuple[int, Cell]] = []
        for number, cell in enumerate(cells, 1):
            row = self._searches.known(cell, self._of(cell))
            rows += [row] if row else []
            todo += [] if row else [(number, cell)]
        if todo:
            self._reported(rows)  # a folder that cannot be written is known before hours of work
        try:
            for at, (number, cell) in enumerate(todo, 1):
                self._told.begins(number, len(cells), cell)
                row = self._searches.search(cell, self._of(cell))
                rows.append(row)
                self._told.ended(row)
                if self._searches.slow and at < len(todo) and todo[at][1].problem != cell.problem:
                    self._reported(rows)
        except BaseException:
            self._reported(rows)
            raise
        return self._reported(rows, plot=self._asked.plot)

    def _of(self, cell: Cell) -> RunSpec:
        return replace(self._specs[cell.method], seed=cell.seed)

    def _reported(self, rows: Sequence[Row], *, plot: bool = False) -> Comparison:
        asked = self._asked
        order = {cell.key: place for place, cell in enumerate(asked.cells())}
        ordered = sorted(rows, key=lambda row: order[_cell(row).key])
        by_method = {method: [row for row in ordered if row.method == method] for method in asked.methods}
        report = Comparison(
            name=asked.name,
            where=self._searches.where,
            problems=asked.problems,
            seeds=asked.seeds,
            budget=_budget(self._specs.values()),
            judge=JUDGE_VERSION,
            kernwright=__version__,
            summaries=tuple(summary_of(m, each, by_method[asked.methods[0]]) for m, each in by_method.items()),
            rows=tuple(ordered),
            missing=len(order) - len(rows),
        )
        write(asked.out, report, plot=plot)
        return report


class _Landscape:
    """Searches in memory; their rows are kept in a file of the home."""

    slow = False

    def __init__(self, asked: Asked) -> None:
        self.where = f"the synthetic landscape, version {VERSION}"
        self._path = asked.home / "comparisons" / f"{asked.name}.rows.jsonl"
        self._rows: dict[str, Row] = {}
        if self._path.is_file():
            data, _, _ = self._path.read_bytes().rpartition(b"\n")
            for line in data.splitlines():
                row = decode(Row, line)
                self._rows[_cell(row).key] = row

    def known(self, cell: Cell, spec: RunSpec) -> Row | None:
        row = self._rows.get(cell.key)
        return row if row is not None and row.settings == _settings(cell, spec) else None

    def search(self, cell: Cell, spec: RunSpec) -> Row:
        graph = landscape.search(cell.problem, spec)
        row = row_of(cell, graph, _settings(cell, spec), start=landscape.naive_speedup(cell.problem))
        with writing(self._path.parent), self._path.open("ab") as file:
            file.write(encode(row) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        return row


class _Runs:
    """Searches that are runs of the home."""

    slow = True

    def __init__(self, asked: Asked, ledger: Ledger, engine: "Engine", watch: "Watch") -> None:
        self._home, self._ledger, self._engine, self._watch = asked.home, ledger, engine, watch
        self._problems = {name: intake.problem_of(name, asked.rules) for name in asked.problems}
        self._name = asked.name
        self.where = str(asked.settings.get("target") or "this machine")

    def known(self, cell: Cell, spec: RunSpec) -> Row | None:
        begun, problem = self._ledger.known.get(cell.key), self._problems[cell.problem]
        if not isinstance(begun, Begun):
            return None
        graph = self._engine.graph(begun.run)
        if graph.spec != spec or begun.problem != problem.id:
            what = "problem" if begun.problem != problem.id else "settings or method"
            raise UserError(
                f"The {what} of {cell.key!r} changed since the comparison {self._name!r} began on it (run "
                f"{begun.run}); restore it, or give another --name to begin a new comparison."
            )
        return row_of(cell, graph, _settings(cell, spec), begun.run) if graph.finished is not None else None

    def search(self, cell: Cell, spec: RunSpec) -> Row:
        begun, problem = self._ledger.known.get(cell.key), self._problems[cell.problem]
        try:
            run = begun.run if isinstance(begun, Begun) else self._begun(cell, spec, problem)
            graph = self._engine.drive(run, self._watch)
        except (UserError, MachineFault, RunLocked) as error:
            reason = f"{error} Calling the comparison again tries it again."
            return Row(method=cell.method, problem=cell.problem, seed=cell.seed, settings="", reason=reason)
        return row_of(cell, graph, _settings(cell, spec), run)

    def _begun(self, cell: Cell, spec: RunSpec, problem: Problem) -> str:
        run = service.create(self._home, spec, problem)
        self._ledger.write(Begun(key=cell.key, problem=problem.id, run=run))
        return run


def _cell(row: Row) -> Cell:
    return Cell(method=row.method, problem=row.problem, seed=row.seed)


def _settings(cell: Cell, spec: RunSpec) -> str:
    return digest((VERSION, cell.problem, json.loads(encode(spec))))


def _budget(specs: Any) -> str:
    budgets = {json.dumps(json.loads(encode(spec.budget)), sort_keys=True) for spec in specs}
    if len(budgets) > 1:
        return "each method's own budget"
    [text] = budgets
    limits = {name: value for name, value in json.loads(text).items() if value is not None}
    return ", ".join(f"{value:g} {name}" for name, value in sorted(limits.items())) or "no budget"
