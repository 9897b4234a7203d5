"""What a language says of a target, and what comes of a build."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """Whether something works here, and if not, why and what to do."""

    ok: bool
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """Artefacts of a build, with what the compiler says of them."""

    artifacts: tuple[str, ...]
    resources: Mapping[str, float]
    notes: tuple[str, ...] = ()
    """What a reader of the resources must know, a sentence each."""
