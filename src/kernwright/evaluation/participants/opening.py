"""What a runner is told of a workload, and what is said where its results do not fit."""

from typing import Any

import torch

from kernwright.evaluation.problem.gradients import weights_of
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.runner.precision import cast_of
from kernwright.evaluation.runner.structure import PAGE, OtherKeys, encode, overlaps

ONE_FOR_SEVERAL = (
    "it returned results that lie in the same memory where the reference's lie apart, so that to write one changes "
    "another; return a tensor for each"
)

ELEMENTS_SHARE = "it returned a tensor whose elements share memory, which the reference's do not; make it contiguous()"


def opening(setting: Setting, entry: str, compiled: bool) -> dict[str, Any]:
    """What a runner is told of a workload, for as long as it lives."""
    reference = setting.reference
    rules, slopes = reference.problem.rules, reference.slopes(setting.workload)
    gradients = {"outputs": [s.number for s in slopes], "weights": list(weights_of(setting.model))}
    return {
        "workload": setting.index,
        "sizes": setting.sizes,
        "read_only": not reference.mutates,
        "entry": entry,
        "compile": compiled,
        "seed": setting.init_seed,
        "on_host": reference.built_on_host,
        "init": encode(tuple(setting.init)),
        "cast": cast_of(rules.precision),
        "state": setting.state_specs,
        "by_value": not setting.varied,
        "inputs": setting.input_specs,
        "nesting": reference.nesting,
        "keys": setting.keys,
        "outputs": [{**spec, "shares": None} if compiled else spec for spec in setting.output_specs],
        "gradients": gradients if slopes else None,
        "reuses": rules.reuse_outputs,
    }


def fill_gaps(memory: torch.Tensor, setting: Setting) -> None:
    """Not-a-number between one input and the next, so that a read beyond the end shows."""
    for spec in (spec for specs in setting.input_specs for spec in specs if spec is not None):
        end = spec["offset"] + spec["extent"] * getattr(torch, spec["dtype"]).itemsize
        memory[end : -(-end // PAGE) * PAGE].fill_(0xFF)


def mismatch(described: Any, setting: Setting, device: str) -> str:
    """What a runner returned, by its own word, where the workload's outputs have other types, shapes or places."""
    if said := _other_keys(described, setting):
        return said
    expected = [f"{s['dtype']}{s['shape']}" for s in setting.output_specs]
    try:
        got = [f"{d[0]} {d[1]}{d[2]} on {d[4]}" if len(d) == 5 else str(d[0]) for d in described]
    except (TypeError, IndexError, KeyError):
        got = ["something else"]
    if got == [f"Tensor {s} on {device.partition(':')[0]}" for s in expected]:
        if elements_share(described, setting):
            return ELEMENTS_SHARE
        own = "the judge's own memory, or a tensor that only says that it is one"
        return f"{ONE_FOR_SEVERAL}; or {own}" if len(expected) > 1 else f"it returned {own}"
    return f"it returned {', '.join(got) or 'nothing'} where {', '.join(expected)} was expected"[:600]


def _other_keys(described: Any, setting: Setting) -> str:
    """What a runner says of a dictionary's keys, where the reference has some."""
    try:
        (kind, said), *_ = described
    except (TypeError, ValueError):
        return ""
    return str(said)[:600] if setting.keys is not None and kind == OtherKeys.__name__ else ""


def lies_otherwise(described: Any, setting: Setting) -> str:
    """How a result lies in memory, by the runner's word, where the reference's lies otherwise; else nothing. Nobody is
    asked for that, but whoever reads it in order may have to pay."""
    try:
        for name, said, own in zip(setting.names, described, setting.output_strides, strict=True):
            theirs = [stride for stride, n in zip(said[3], said[2], strict=True) if n > 1]
            if own is not None and theirs != [stride for stride, n in zip(own, said[2], strict=True) if n > 1]:
                where = f"strides {said[3]!s:.60}, and the reference's {own}, on workload {setting.workload.name!r}"
                return f"{name} lies in memory otherwise than the reference's, which the rules leave free: {where}"
    except (TypeError, LookupError, ValueError):  # a runner says what it likes
        pass
    return ""


def elements_share(described: Any, setting: Setting) -> bool:
    """Whether elements of one result lie in the same memory where the reference's do not, by the runner's word."""
    try:
        pairs = zip(described, setting.output_specs, strict=True)
        return any(overlaps(said[2], said[3]) and not spec["overlapping"] for said, spec in pairs)
    except (TypeError, LookupError, ValueError):  # a runner says what it likes
        return False


def has_no_such(weight: str) -> str:
    """What is said of a candidate that has no such weight."""
    return (
        f"the candidate has no tensor that is the weight {weight!r}, neither by its name and shape nor by its values, "
        "so nobody can see whether results follow it; keep weights as the reference has them, best under its names, "
        "since the rules do not allow prepack"
    )
