"""Emits, builds and runs Inductor's files for small problems, all in one process; prints what was found as JSON.

Arguments: `name=path` for every problem. Only the last two workloads of each are used, one of them held out.
"""

import importlib.util
import inspect
import json
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from kernwright.problems.file import File
from kernwright.search.operators.inductor_emit import emit


def main() -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    reply = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
        found = {}
        for argument in sys.argv[1:]:
            name, _, path = argument.partition("=")
            found[name] = examine(name, path, Path(folder))
    json.dump(found, reply)
    reply.flush()


def examine(name: str, path: str, folder: Path) -> dict[str, Any]:
    problem = File().load(path)
    held_out = problem.workloads[-1]
    small = {key: min(n, 24) if isinstance(n, int) else n for key, n in problem.workloads[0].params.items()}
    loads = [{"params": small, "held_out": False}]
    if len(problem.workloads) > 1:
        loads.append({"params": held_out.params, "held_out": True})
    order = {
        "source": problem.source,
        "entry": problem.entry,
        "workloads": loads,
        "target": "cpu:any",
        "tf32": False,
        "dtype": None,
        "threads": 1,
    }
    started = time.perf_counter()
    text = emit(order, {"patches": {}, "any_shape": False})
    emitted = time.perf_counter()
    file = folder / f"{name}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(f"candidate_{name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    built = time.perf_counter()
    scope: dict[str, Any] = {}
    exec(compile(problem.source, path, "exec"), scope)
    return {
        "emit_s": emitted - started,
        "build_s": built - emitted,
        "holds_reference": "class Model(" in text,
        "differences": [difference for load in loads for difference in compare(scope, module, load["params"])],
    }


def compare(scope: dict[str, Any], module: Any, params: dict[str, Any]) -> list[str]:
    def given(function: Any) -> Any:
        accepted = inspect.signature(function).parameters
        return function(**{name: value for name, value in params.items() if name in accepted})

    init = given(scope["get_init_inputs"]) if "get_init_inputs" in scope else []
    model, other = scope["Model"](*init).eval(), module.ModelNew(*init).eval()
    problems = []
    if [n for n, _ in model.named_parameters()] != [n for n, _ in other.named_parameters()]:
        problems.append("parameters differ")
    if {n: b.shape for n, b in model.named_buffers()} != {n: b.shape for n, b in other.named_buffers()}:
        problems.append("buffers differ")
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            if tensor.is_floating_point():
                tensor.copy_(torch.rand_like(tensor) + 0.5)
        other.load_state_dict(model.state_dict())
        for name, buffer in model.named_buffers():
            other.get_buffer(name).copy_(buffer)
        for _ in range(2):
            inputs = given(scope["get_inputs"])
            (wanted, shape), (got, own) = tree_flatten(model(*inputs)), tree_flatten(other(*inputs))
            if shape != own:
                problems.append(f"{own} instead of {shape}")
            for a, b in zip(wanted, got, strict=True):
                if isinstance(a, torch.Tensor):
                    close = a.dtype == b.dtype and a.shape == b.shape and torch.allclose(a, b, 1e-4, 1e-5)
                else:
                    close = a == b
                if not close:
                    problems.append(f"an output differs at {params}")
    return problems


if __name__ == "__main__":
    main()
