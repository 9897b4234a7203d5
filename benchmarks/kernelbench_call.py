"""KernelBench's own evaluator on one kernel, in a fresh Python process, as its users call it."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from typing import Any

CALL = """\
import inspect, json, sys, types
order = json.load(sys.stdin)
sys.path.insert(0, order["source"])
stubs = []
# What the evaluator's package imports for other parts of it, and has no use for here.
unused = {"requests": (), "openai": ("OpenAI",), "litellm": ("completion",), "dotenv": ("load_dotenv",)}
for name, members in unused.items():
    try:
        __import__(name)
    except ModuleNotFoundError:
        stubs.append(name)
        sys.modules[name] = types.ModuleType(name)
        for member in members:
            setattr(sys.modules[name], member, lambda *_, **__: None)
import torch
from kernelbench.eval import eval_kernel_against_ref as evaluate
known = inspect.signature(evaluate).parameters
arguments = {
    "num_correct_trials": order["checks"], "num_perf_trials": order["samples"], "measure_performance": True,
    "backend": order["backend"], "device": torch.device("cuda:0"), "build_dir": order["folder"], "seed_num": 42,
}
found = evaluate(order["reference"], order["kernel"], **{k: v for k, v in arguments.items() if k in known})
print("\\nRESULT " + json.dumps({
    "compiled": found.compiled, "correct": found.correctness, "runtime": found.runtime,
    "reference_runtime": getattr(found, "ref_runtime", None), "stubs": stubs,
    "metadata": {name: str(value)[-1500:] for name, value in found.metadata.items()},
}))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is evaluated, and how."""

    source: str
    """Folder that holds the package `kernelbench`."""
    reference: str
    kernel: str
    backend: str
    """What their evaluator calls the form: `cuda`, `triton`."""
    checks: int
    samples: int
    limit_s: float


def source_in(path: Path) -> str:
    """The folder of a checkout that holds the package `kernelbench`.

    Raises:
        SystemExit: there is none.
    """
    for folder in (path / "src", path, path.parent):
        if (folder / "kernelbench" / "eval.py").is_file():
            return str(folder.absolute())
    raise SystemExit(f"{path} holds no kernelbench/eval.py; give a KernelBench checkout, or its folder src.")


def called(order: Order, gpu: str = "") -> dict[str, Any]:
    """What it said, and the seconds it took, start included; whatever went wrong is in `error` or `metadata`.

    `gpu`: which one it sees; without, the one that this process sees, or the first.
    """
    with tempfile.TemporaryDirectory() as folder:
        variables = {**os.environ, "TRITON_CACHE_DIR": f"{folder}/triton", "TORCH_EXTENSIONS_DIR": f"{folder}/torch"}
        variables.setdefault("CUDA_VISIBLE_DEVICES", "0")
        variables |= {"CUDA_VISIBLE_DEVICES": gpu} if gpu else {}
        begun = monotonic()
        try:
            done = subprocess.run(
                [sys.executable, "-c", CALL],
                input=json.dumps({**asdict(order), "folder": folder}),
                capture_output=True,
                text=True,
                env=variables,
                timeout=order.limit_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"seconds": round(monotonic() - begun, 3), "error": f"longer than {order.limit_s:g} s"}
        seconds = round(monotonic() - begun, 3)
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if not lines:
        return {"seconds": seconds, "error": (done.stderr.strip() or done.stdout.strip())[-1500:]}
    return {"seconds": seconds, **json.loads(lines[-1].removeprefix("RESULT "))}
