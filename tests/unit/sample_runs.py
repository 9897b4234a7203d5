"""Runs sample kernels of the knowledge packs against their problems and prints a JSON object for each setting and case.

    python tests/unit/sample_runs.py run cpp FOLDER...          the samples in these folders, as they are
    python tests/unit/sample_runs.py knobs triton FOLDER...     and with each value of each knob, one at a time
    python tests/unit/sample_runs.py build cuda:sm_90a FOLDER...   what compiling them for a GPU says, none is needed

Triton kernels run in Triton's interpreter and CUDA C++ on the CPU shim, so a process takes one language. It compares
with the reference in float64, on the smallest workload alone unless `--all` is given, and once more from addresses that
are no multiple of 16.
"""

import copy
import inspect
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from kernwright.core.calls import CallSpec, TensorSpec
from kernwright.core.candidate import Candidate, SourceFile, knobs_of, with_knobs
from kernwright.core.loading import import_file
from kernwright.core.problem import Problem, Workload
from kernwright.problems.file import File

TARGET = "cuda:sm_90a"


def main() -> None:
    """What is asked for on the command line."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    everything = "--all" in sys.argv
    mode, language, *folders = [each for each in sys.argv[1:] if each != "--all"]
    reply = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for row in rows(mode, language, list(map(Path, folders)), everything):
        reply.write(json.dumps(row) + "\n")


def rows(mode: str, language: str, folders: list[Path], everything: bool) -> Iterator[dict[str, Any]]:
    """What is printed."""
    if mode == "build":
        for folder in folders:
            yield {"name": folder.name, **built(folder, language)}
        return
    # All references first: afterwards PyTorch may take the processor for a GPU.
    cases = [(folder, list(cases_of(folder, everything))) for folder in folders]
    prepare(language)
    for folder, references in cases:
        for setting, candidate in settings(folder, mode == "knobs"):
            with tempfile.TemporaryDirectory() as scratch:
                module = loaded(candidate, Path(scratch))
                for workload, init, model, inputs, oracle in references:
                    share = error_share(module, init, model, inputs, oracle)
                    yield {"name": folder.name, "setting": setting, "workload": workload.name, "error_share": share}


def candidate_of(folder: Path) -> Candidate:
    """The candidate in a sample's folder."""
    others = [p.name for p in sorted(folder.iterdir()) if p.is_file() and p.name not in ("candidate.py", "problem.py")]
    files = tuple(SourceFile(name=name, text=(folder / name).read_text()) for name in ("candidate.py", *others))
    return Candidate(language=folder.name.partition("-")[0], files=files)


def settings(folder: Path, knobs: bool) -> Iterator[tuple[str, Candidate]]:
    """The candidate as it is, and with other values of its knobs."""
    candidate = candidate_of(folder)
    yield "", candidate
    for knob in knobs_of(candidate) if knobs else ():
        for value in knob.values:
            if value != knob.default:
                yield f"{knob.name}={value}", with_knobs(candidate, {knob.name: value})


def given(function: Callable[..., Any], workload: Workload) -> Any:
    """What a problem's function makes of a workload's parameters."""
    accepted = inspect.signature(function).parameters
    return function(**{name: value for name, value in workload.params.items() if name in accepted})


def scope_of(problem: Problem) -> dict[str, Any]:
    """The problem's file, executed."""
    scope: dict[str, Any] = {}
    exec(compile(problem.source, problem.name, "exec"), scope)
    return scope


def cases_of(folder: Path, everything: bool) -> Iterator[tuple[Workload, Any, Any, list[Any], list[Any]]]:
    """Workload, constructor's arguments, model, inputs, and what the model makes of them in float64."""
    problem = File().load(str(folder / "problem.py"))
    scope = scope_of(problem)
    for workload in problem.workloads:
        if not (everything or workload.held_out):
            continue
        torch.manual_seed(7)
        init = given(scope["get_init_inputs"], workload) if "get_init_inputs" in scope else []
        model, inputs = scope["Model"](*init).eval(), given(scope["get_inputs"], workload)
        wide = [x.double() if x.is_floating_point() else x for x in inputs]
        with torch.no_grad():
            oracle = tree_leaves(copy.deepcopy(model).double()(*wide))
            narrow = tree_leaves(model(*inputs))
        yield workload, init, model, inputs, list(zip(oracle, narrow, strict=True))


def prepare(language: str) -> None:
    """Make this process one in which candidates of the language run."""
    os.environ["KERNWRIGHT_BUILDING"] = "1"
    os.environ["KERNWRIGHT_TARGET"] = TARGET
    if language == "cuda":
        os.environ["KERNWRIGHT_EMULATE"] = "1"
    if language == "triton":
        from kernwright.languages.triton_emulation import prepare as interpret

        interpret(TARGET, "")


def loaded(candidate: Candidate, scratch: Path) -> Any:
    """The candidate, imported from a folder of its own in which it also builds."""
    os.environ["KERNWRIGHT_ARTIFACTS"] = str(scratch)
    for file in candidate.files:
        (scratch / file.name).write_text(file.text)
    return import_file(scratch / "candidate.py", "candidate")


def error_share(module: Any, init: Any, model: Any, inputs: list[Any], oracle: list[Any]) -> float:
    """The largest error against the oracle as a share of what is allowed; infinite where type or shape differ."""
    new = module.ModelNew(*init).eval()
    if init:
        new.load_state_dict(model.state_dict())
    moved = [torch.empty(x.numel() + 1, dtype=x.dtype)[1:].view(x.shape).copy_(x) for x in inputs]
    with torch.no_grad():
        results = [tree_leaves(new(*given)) for given in (inputs, moved)]
    return max(_share(got, *wanted) for result in results for got, wanted in zip(result, oracle, strict=True))


def _share(got: torch.Tensor, exact: torch.Tensor, narrow: torch.Tensor) -> float:
    if got.shape != narrow.shape or got.dtype != narrow.dtype:
        return float("inf")
    if not got.is_floating_point():
        return 0.0 if torch.equal(got, narrow) else float("inf")
    scale = exact.pow(2).mean().sqrt()
    own = (narrow.double() - exact).pow(2).mean().sqrt()
    allowed = 4.0 * torch.maximum(own, torch.finfo(got.dtype).eps * scale)
    share = (got.double() - exact).pow(2).mean().sqrt() / allowed
    return float(share) if bool(torch.isfinite(share)) else float("inf")


def calls_of(folder: Path) -> list[CallSpec]:
    """The calls of the first timed workload, as a build is told of them."""
    problem = File().load(str(folder / "problem.py"))
    scope, workload = scope_of(problem), problem.timed[0]
    init = tuple(given(scope["get_init_inputs"], workload)) if "get_init_inputs" in scope else ()
    specs = tuple(
        TensorSpec(dtype=str(x.dtype).removeprefix("torch."), shape=tuple(x.shape), strides=tuple(x.stride()))
        for x in given(scope["get_inputs"], workload)
    )
    return [CallSpec(init=init, inputs=specs)]


def built(folder: Path, target: str) -> dict[str, Any]:
    """What the compiler says of the sample, for a GPU that need not be there."""
    from kernwright.languages.cuda import Cuda
    from kernwright.languages.triton import Triton
    from kernwright.languages.triton_cache import variables

    candidate = candidate_of(folder)
    with tempfile.TemporaryDirectory() as scratch:
        artifacts = Path(scratch, "artifacts")
        artifacts.mkdir()
        told = {"KERNWRIGHT_ARTIFACTS": str(artifacts), "KERNWRIGHT_BUILDING": "1", "KERNWRIGHT_TARGET": target}
        os.environ.update(told | variables(artifacts), CUDA_VISIBLE_DEVICES="")
        for file in candidate.files:
            Path(scratch, file.name).write_text(file.text)
        language = Triton() if candidate.language == "triton" else Cuda()
        return dict(language.build(candidate, target, Path(scratch), calls_of(folder)).resources)


if __name__ == "__main__":
    main()
