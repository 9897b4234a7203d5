"""The runner's part in profiling. What is sent back is small and plain; the judge takes none of it for granted."""

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from kernwright.core.profile import Profile
from kernwright.core.resolve import resolve

MOST_KERNELS, MOST_KINDS, MOST_NOTES = 12, 24, 6
AGAIN = "again-artifacts"


def look(message: Mapping[str, Any], build: Callable[[], object]) -> dict[str, Any]:
    """What is compiled among the artefacts; `build` builds the candidate into `$KERNWRIGHT_ARTIFACTS`."""
    built = Path(os.environ["KERNWRIGHT_ARTIFACTS"])

    def again(changes: Mapping[str, str]) -> Path:
        folder = Path.cwd() / AGAIN
        folder.mkdir(exist_ok=True)
        for name, value in os.environ.items():
            os.environ[name] = value.replace(str(built), str(folder))
        os.environ.update(changes)
        build()
        return folder

    seen: Profile = resolve(message["profiler"])().look(built, message["target"], again)
    return {"ok": True, "profile": compact(seen)}


def call(message: Mapping[str, Any], function: Callable[..., object], arguments: list[Any]) -> dict[str, Any]:
    """What a profiler in this process sees of a call; or one `mark`ed for the program around it, on copies of its
    inputs: who replays kernels puts back what they wrote, which memory of another process may not allow."""
    if message["op"] == "trace":
        with torch.no_grad():
            seen: Profile = resolve(message["profiler"])().trace(lambda: function(*arguments), Path.cwd())
        return {"ok": True, "profile": compact(seen)}
    copies = [value.clone() if isinstance(value, torch.Tensor) else value for value in arguments]
    with torch.no_grad():
        function(*copies)
        resolve(message["profiler"])().marked(lambda: function(*copies))
    return {"ok": True}


def compact(profile: Profile) -> dict[str, Any]:
    """So much of it as fits into a message."""
    plain = asdict(profile)
    for each in (plain, *plain["kernels"]):
        largest = sorted(each["opcodes"].items(), key=lambda item: -item[1])
        each["opcodes"] = dict(largest[:MOST_KINDS])
    plain["kernels"] = plain["kernels"][:MOST_KERNELS]
    plain["notes"] = [note[:200] for note in plain["notes"][:MOST_NOTES]]
    plain["missing"] = [text[:300] for text in plain["missing"][:8]]
    return plain
