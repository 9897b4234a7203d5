"""Builds of Triton candidates in forked processes, as runners are forked from a warm launcher."""

import faulthandler
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from kernwright.core.built import Built
from kernwright.core.calls import CallSpec, TensorSpec
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.languages.triton import Triton
from kernwright.languages.triton_cache import variables


def tensor(*shape: int, dtype: str = "float32") -> TensorSpec:
    """A contiguous argument."""
    return TensorSpec(dtype=dtype, shape=shape, strides=tuple(torch.empty(shape, device="meta").stride()))


def call(*inputs: Any, cast: str | None = None) -> CallSpec:
    """A call of an entry without constructor arguments."""
    return CallSpec(init=(), inputs=inputs, cast=cast)


def forked(function: Callable[..., Any], *args: Any) -> Any:
    """What `function` returns in a forked process; what it raises there, as (type, text with notes)."""
    receive, send = multiprocessing.Pipe(duplex=False)

    def run() -> None:
        faulthandler.disable()
        torch.set_num_threads(1)
        try:
            send.send(function(*args))
        except Exception as error:
            send.send((type(error).__name__, "\n".join([str(error), *getattr(error, "__notes__", ())])))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork beside threads of libraries, as from the launcher
        process = multiprocessing.get_context("fork").Process(target=run)
        process.start()
    send.close()
    try:
        return receive.recv()
    finally:
        process.join()


def build_here(text: str, target: str, calls: Sequence[CallSpec], folder: Path) -> tuple[Built, list[bool]]:
    """Build into `folder/artifacts`; also, for each kernel, whether it was found compiled."""
    from triton import knobs

    hits = []

    def listen(*, cache_hit: bool, **about: Any) -> None:
        hits.append(cache_hit)

    knobs.compilation.listener = listen
    artifacts = folder / "artifacts"
    artifacts.mkdir(parents=True, exist_ok=True)
    (folder / "candidate.py").write_text(text)
    candidate = Candidate(language="triton", files=(SourceFile(name="candidate.py", text=text),))
    os.environ.update(
        variables(artifacts),
        KERNWRIGHT_ARTIFACTS=str(artifacts),
        KERNWRIGHT_BUILDING="1",
        CUDA_VISIBLE_DEVICES="",
        TORCHINDUCTOR_CACHE_DIR=str(artifacts / "inductor"),
    )
    return Triton().build(candidate, target, folder, calls), hits


def build(text: str, target: str, calls: Sequence[CallSpec], folder: Path) -> Any:
    """`build_here`, forked."""
    return forked(build_here, text, target, calls, folder)


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Within, these variables are set."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value
