"""A judge as they are often written, to show what gets past it: one process, one seed, allclose, its own clock.

Reads lines `problem.py candidate.py` and answers each with a line of JSON; a process per candidate, so that the
next one starts clean, and a deadline.
"""

import atexit
import importlib.util
import inspect
import json
import os
import select
import signal
import sys
import threading
import time

import torch

DEADLINE_S = 20.0


def load(path, name):
    """Import a file."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def inputs_of(problem, params):
    """The inputs of one workload, always under the same seed."""
    torch.manual_seed(42)
    accepted = inspect.signature(problem.get_inputs).parameters
    return problem.get_inputs(**{key: value for key, value in params.items() if key in accepted})


def correct(model, new, inputs):
    """Three comparisons after a warm-up."""
    new(*inputs)
    for _ in range(3):
        expected = model(*inputs)
        start = time.perf_counter()
        model(*inputs)
        new_starts = time.perf_counter()
        got = new(*inputs)
        print(f"reference {new_starts - start:.6f} s, candidate {time.perf_counter() - new_starts:.6f} s")
        time.sleep(0.005)
        if isinstance(expected, dict):
            got, expected = tuple(got[key] for key in expected), tuple(expected.values())
        pairs = zip(got, expected, strict=True) if isinstance(expected, tuple) else [(got, expected)]
        if not all(torch.allclose(one, other, rtol=1e-2, atol=1e-2) for one, other in pairs):
            return False
    return True


def time_calls(function, inputs):
    """Median of seven calls."""
    samples = []
    for _ in range(7):
        start = time.perf_counter()
        function(*inputs)
        samples.append(time.perf_counter() - start)
    return sorted(samples)[3]


@torch.no_grad()
def judge(problem_path, candidate_path):
    """Print what a harness of this kind would believe."""
    torch.set_num_threads(1)
    reference = load(problem_path, "reference")
    init = reference.get_init_inputs() if hasattr(reference, "get_init_inputs") else []
    smaller = getattr(reference, "ON_PROCESSORS", {})
    loads = [params | smaller.get(name, {}) for name, params in reference.WORKLOADS.items()]
    torch.manual_seed(42)
    model = reference.Model(*init)
    reference_s = time_calls(model, inputs_of(reference, loads[0]))
    candidate = load(candidate_path, "candidate")
    torch.manual_seed(42)
    new = candidate.ModelNew(*init) if hasattr(candidate, "ModelNew") else candidate.kernel
    if init:
        new.load_state_dict(model.state_dict(), strict=False)  # the rest comes from the seed
    right = correct(model, new, inputs_of(reference, loads[-1]))
    speedup = reference_s / max(time_calls(new, inputs_of(reference, loads[0])), 1e-9)
    print(json.dumps({"correct": right, "speedup": round(speedup, 2)}), flush=True)


def leave():
    """End as Python does, but for taking apart what PyTorch has built, which takes a forked process a second or two."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(0)


def believe(problem_path, candidate_path):
    """The last verdict that was printed, by whomever, before the deadline."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(reader)
        os.dup2(writer, 1)
        try:
            judge(problem_path, candidate_path)
        except SystemExit as error:
            print(json.dumps({"correct": not error.code}))
        except BaseException as error:
            print(json.dumps({"correct": False, "error": f"{type(error).__name__}: {error}"[:200]}))
        leave()
    os.close(writer)
    printed, deadline = b"", time.monotonic() + DEADLINE_S
    while select.select([reader], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(reader, 65536)
        if not part:
            break
        printed += part
    os.close(reader)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    for line in reversed(printed.decode(errors="replace").splitlines()):
        try:
            verdict = json.loads(line)
        except ValueError:
            continue
        if "correct" in verdict:
            return verdict
    return {"correct": False, "error": "no verdict"}


if __name__ == "__main__":
    for asked in sys.stdin.read().splitlines():
        print(json.dumps({"candidate": asked.split()[1], **believe(*asked.split())}), flush=True)
