"""What a coding agent may see and write: a scratch folder, few variables, and a box where bubblewrap works."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kernwright.core.errors import UserError
from kernwright.core.secrets import SHORTEST

PLAIN = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE")
"""Variables that an agent gets unasked."""
BOX, TEMPORARY = "bwrap", "/tmp"


def environment_of(names: Iterable[str], folder: Path) -> dict[str, str]:
    """For an agent: the plain variables and those that the user named.

    Raises:
        UserError: one of them is not set.
    """
    named = tuple(names)
    for name in named:
        if name not in os.environ:
            raise UserError(f"The variable {name} is not set, so no agent can have it; export it or leave it out.")
    found = {name: os.environ[name] for name in (*PLAIN, *named) if name in os.environ}
    return found | {"TMPDIR": str(folder), "TERM": "dumb"}


def box_works() -> bool:
    """Whether bubblewrap is there and this machine lets it work."""
    if shutil.which(BOX) is None:
        return False
    command = [BOX, "--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"]
    try:
        return subprocess.run(command, capture_output=True, timeout=10, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def boxed(command: Sequence[str], folder: Path, hidden: Iterable[Path], writable: Iterable[Path]) -> tuple[str, ...]:
    """The command in a box: it reads the machine but for what is hidden, writes `folder` and `writable` alone, and
    sees no process but its own. The network stays: an agent needs its model."""
    words = [BOX, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", TEMPORARY]
    for word in command:  # what is run may lie there itself
        if word.startswith(f"{TEMPORARY}/") and Path(word).exists():
            words += ["--ro-bind", word, word]
    for path in hidden:
        if path.is_dir():
            words += ["--tmpfs", str(path)]
        elif path.is_file():
            words += ["--ro-bind", os.devnull, str(path)]
    for path in (*writable, folder):
        words += ["--bind", str(path), str(path)]
    words += ["--unshare-pid", "--unshare-ipc", "--die-with-parent", "--chdir", str(folder), "--"]
    return (*words, *command)


def without(text: str, named: Iterable[str], environment: Mapping[str, str], *, cut: bool = False) -> str:
    """The text without the values of the variables that the user named; where its beginning was `cut` off, without
    as much more as may be the rest of a value."""
    values = {name: value for name in named if len(value := environment.get(name, "")) >= SHORTEST}
    for name, value in values.items():
        text = text.replace(value, f"[{name}]")
    return text[max(map(len, values.values()), default=0) :] if cut else text
