"""Emits Inductor's Triton files for small problems and runs them in Triton's interpreter; prints findings as JSON.

Arguments: `name=path` for every problem. Started with TRITON_INTERPRET=1. Everything is on the processor: what the
files ask of a GPU is answered here. The interpreter has no libdevice; Triton's own functions stand in for it.
"""

import ast
import contextlib
import importlib.util
import json
import math
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers
from torch._inductor.runtime.triton_helpers import libdevice
from torch.utils._pytree import tree_leaves
from triton.runtime import interpreter

from kernwright.core.problem import Problem
from kernwright.problems.file import File
from kernwright.search.operators.inductor_emit import emit

known = interpreter._patch_lang_tensor


def patch_tensor(tensor: Any, scope: Any) -> None:
    """Loops over ranges; Triton 3.6 asks NumPy for a conversion that NumPy 2.4 refuses."""
    known(tensor, scope)
    scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))


@triton.jit
def exp(x):  # type: ignore[no-untyped-def]
    return tl.exp(x)


@triton.jit
def erf(x):  # type: ignore[no-untyped-def]
    return tl.erf(x)


@triton.jit
def rsqrt(x):  # type: ignore[no-untyped-def]
    return 1 / tl.sqrt(x)


@triton.jit
def max2(x, dim):  # type: ignore[no-untyped-def]
    """The interpreter reduces by a function of its own element by element, by Triton's maximum at once."""
    return tl.max(x, dim)


def main() -> None:
    warnings.simplefilter("ignore")
    interpreter._patch_lang_tensor = patch_tensor
    vars(libdevice).update(exp=exp, erf=erf, rsqrt=rsqrt)
    vars(triton_helpers).update(max2=max2)
    torch.cuda._DeviceGuard = lambda index: contextlib.nullcontext()  # type: ignore[assignment, misc]
    reply = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for argument in sys.argv[1:]:
            name, _, path = argument.partition("=")
            problem = File().load(path)
            found[name] = examine(name, problem, Path(folder))
            if len(problem.workloads) > 1:
                found[f"{name}-any-shape"] = examine(name, problem, Path(folder), any_shape=True)
    json.dump(found, reply)
    reply.flush()


def examine(name: str, problem: Problem, folder: Path, *, any_shape: bool = False) -> dict[str, Any]:
    order = {
        "source": problem.source,
        "entry": problem.entry,
        "target": "cuda:sm_90a",
        "tf32": False,
        "dtype": None,
        "threads": 1,
        "workloads": [{"params": load.params, "held_out": load.held_out} for load in problem.workloads],
    }
    text = emit(order, {"patches": {}, "any_shape": any_shape})
    tree = ast.parse(text)
    file = folder / f"{name}_{any_shape}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(f"candidate_{name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module).update(
        empty_strided_cuda=lambda shape, stride, dtype: torch.empty_strided(shape, stride, dtype=dtype).fill_(math.nan),
        get_raw_stream=lambda device: 0,
    )
    scope: dict[str, Any] = {}
    exec(compile(problem.source, name, "exec"), scope)
    kernels = [n.name for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("triton_")]
    return {
        "kernels": kernels,
        "text": text,
        "differences": [d for load in problem.workloads for d in compare(scope, module, load.params)],
    }


def compare(scope: dict[str, Any], module: Any, params: dict[str, Any]) -> list[str]:
    init = scope["get_init_inputs"]() if "get_init_inputs" in scope else []
    model, other = scope["Model"](*init).eval(), module.ModelNew(*init)
    problems = []
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            if tensor.is_floating_point():
                tensor.copy_(torch.rand_like(tensor) + 0.5)
        other.load_state_dict(model.state_dict())
        inputs = scope["get_inputs"](**params)
        wanted, got = tree_leaves(model(*inputs)), tree_leaves(other(*inputs))
        # An address that is no multiple of 16, and strides that the code was not made for.
        moved = [torch.empty(x.numel() + 1)[1:].view(x.shape).copy_(x) for x in inputs]
        turned = [x.transpose(0, -1).contiguous().transpose(0, -1) for x in inputs]
        again = [tree_leaves(other(*moved)), tree_leaves(other(*turned))]
    for way, outputs in zip(("", "moved", "turned"), (got, *again), strict=True):
        for a, b in zip(wanted, outputs, strict=True):
            if a.dtype != b.dtype or a.shape != b.shape or not torch.allclose(a, b, 1e-4, 1e-5):
                problems.append(f"an output differs at {params} {way}")
            elif a.stride() != b.stride():
                problems.append(f"strides {b.stride()} instead of {a.stride()}")
    return problems


if __name__ == "__main__":
    main()
