"""`kernwright export RUN [NODE]`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from . import options, screen


def export(
    run: options.Run,
    node: Annotated[int | None, typer.Argument(metavar="[NODE]", help="Not the champion but this node.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write it.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Also what is not verified, and over a file.")] = False,
    bundle: Annotated[Path | None, typer.Option(metavar="FILE", help="Where the evidence goes; beside it.")] = None,
    sign: Annotated[
        Path | None, typer.Option(metavar="KEYFILE", help="Sign it: Ed25519, PEM; the extra `sign`.")
    ] = None,
    recording: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the whole run, to be replayed elsewhere.")
    ] = None,
    trajectories: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write prompts, replies and rewards, to train models on.")
    ] = None,
    samples: Annotated[bool, typer.Option("--samples", help="With --recording: raw times too.")] = False,
    author: Annotated[str, typer.Option(help="With --recording: who wrote the candidates.")] = "",
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Write the champion as a file that needs PyTorch alone, and its evidence beside it."""
    from kernwright import api
    from kernwright.engine.intake import home_of
    from kernwright.engine.reading import export_recording
    from kernwright.engine.trajectories import export_trajectories

    if recording is not None:
        full = export_recording(home_of(home), run, recording, author=author, samples=samples)
        if as_json:
            screen.emit({"run": full, "recording": str(recording)})
        else:
            print(f"Wrote {recording}; replay it with: --operator replay:recording={recording}")
        return
    if trajectories is not None:
        written = export_trajectories(home_of(home), run, trajectories)
        if as_json:
            screen.emit({**asdict(written), "trajectories": str(trajectories)})
        else:
            told = f"{written.nodes} nodes, {written.pairs} pairs, {written.groups} groups, {written.repairs} repairs"
            print(f"Wrote {trajectories}: {told}.")
        return
    done = api.export(run, out, node=node, force=force, bundle=bundle, sign=sign, home=home)
    if as_json:
        evidence = {"bundle": str(done.bundle) if done.bundle else None, "without_bundle": done.without or None}
        screen.emit({"run": run, "path": str(done.path), **evidence})
        return
    print(f"Wrote {done.path}; it needs PyTorch and nothing of Kernwright.")
    if done.bundle:
        print(f"Wrote {done.bundle}, its evidence; check it with: kernwright verify {done.bundle}")
    else:
        screen.say(f"No evidence bundle: {done.without}")
