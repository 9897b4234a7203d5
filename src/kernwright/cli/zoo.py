"""`kernwright zoo`."""

from typing import TYPE_CHECKING, Annotated

import typer

from . import options, screen

if TYPE_CHECKING:
    from kernwright.engine.zoo_trial import Row
    from kernwright.zoo import Member


def zoo(
    target: Annotated[str, typer.Option(help="Where the kernels are to run.")] = "cpu",
    family: Annotated[list[str] | None, typer.Option(help="A, B, C, D or honest; may be repeated.")] = None,
    kind: Annotated[str | None, typer.Option(help="hacks or honest; both by default.", show_default=False)] = None,
    name: Annotated[list[str] | None, typer.Option(help="One kernel alone; may be repeated.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="How many are judged at a time; only timing is exclusive.")] = 1,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Put known hacks and odd but honest kernels before the judge. Exit 1 where it is wrong about one of them."""
    from kernwright.core.errors import unknown_name
    from kernwright.engine import intake, targets, zoo_trial

    from .interruption import interruptible
    from .zoo_view import view

    if kind is not None and kind not in ("hacks", "honest"):
        raise unknown_name("kind of kernel in the zoo", kind, ("hacks", "honest"))
    where = targets.target_of(target)
    asked = zoo_trial.chosen(
        where, family or (), "honest" if kind == "honest" else "hacks" if kind else None, name or ()
    )
    folder = intake.writable_home(home)
    with _Watch() as watch, interruptible("Stopped by Ctrl-C; nothing was left running. Rates need all of the zoo."):
        report = zoo_trial.run(asked, where, folder, watch, jobs=jobs)
    if as_json:
        screen.emit(report)
    else:
        screen.show(*view(report))
    if not report.clean:
        raise typer.Exit(1)


class _Watch:
    """A line for each kernel on stderr, and on a terminal what each judge is at below them."""

    def __init__(self) -> None:
        self._console = screen.err()
        self._status = self._console.status("starting") if self._console.is_terminal else None
        self._done, self._total = 0, 0
        self._stages: dict[str, str] = {}

    def __enter__(self) -> "_Watch":
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def begins(self, total: int, member: "Member") -> None:
        self._total = total
        self.says(member, "starting")

    def says(self, member: "Member", text: str) -> None:
        self._stages[member.name] = text
        if self._status is not None:
            self._status.update("; ".join(f"{name} · {stage}" for name, stage in self._stages.items()))

    def ended(self, row: "Row") -> None:
        from .zoo_view import sentence

        self._stages.pop(row.name, None)
        self._done += 1
        self._console.print(f"[{self._done}/{self._total}] {row.name}: {sentence(row)}", soft_wrap=True)
