"""What limits a kernel, as far as its figures tell."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Classes of bottleneck, with what speaks for them."""

    bottlenecks: tuple[str, ...]
    """The weightiest first; the words are those of knowledge packs."""
    evidence: tuple[str, ...] = ()
    ruled_out: tuple[str, ...] = ()
    text: str = ""
