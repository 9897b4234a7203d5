"""Which targets there are: on this machine, and on others that candidates can be built for."""

import platform
from collections.abc import Callable

from kernwright.core.errors import UserError, unknown_name
from kernwright.core.ports import Platform
from kernwright.core.resolve import resolve
from kernwright.platforms import TABLE


def here() -> list[str]:
    """This machine's targets: accelerators, then the processor."""
    return [target for kind in _platforms().values() for target in kind.targets()]


def known() -> list[str]:
    """Every target that some machine may have, in the same order."""
    return [target for kind in _platforms().values() for target in kind.known()]


def target_of(
    name: str | None,
    *,
    absent: bool = False,
    suits: Callable[[str], bool] = lambda target: True,
    system: str = platform.system(),
) -> str:
    """The target of this name, or the first that suits; one that only another machine has where it may be `absent`.

    Raises:
        UserError: there is no such target, or the system is not Linux.
    """
    if system != "Linux":
        raise UserError(f"Judging needs Linux, and this is {system}; use a Linux machine or a container.")
    found, anywhere = here(), known()
    if name is None:
        choice = [target for target in (*found, *(anywhere if absent else ())) if suits(target)]
        return choice[0] if choice else found[0]
    if name in found or (absent and name in anywhere):
        return name
    of_kind = [target for target in found if target.startswith(f"{name}:")]
    if of_kind:
        return of_kind[0]
    if name in anywhere:
        raise UserError(f"The target {name!r} is not here; this machine has: {', '.join(found)}.")
    if name in TABLE:
        of_kind = [target for target in anywhere if target.startswith(f"{name}:")]
        raise UserError(f"There is no {name!r} device here; name the one that is meant: {', '.join(of_kind)}.")
    raise unknown_name("target", name, anywhere)


def _platforms() -> dict[str, Platform]:
    names = sorted(TABLE, key=lambda name: name == "cpu")
    return {name: resolve(TABLE[name])() for name in names}
