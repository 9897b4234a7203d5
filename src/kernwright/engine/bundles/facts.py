"""What a bundle holds, and what is said of one."""

from dataclasses import dataclass
from typing import Any, Literal

from kernwright.core.candidate import Candidate
from kernwright.core.outcome import Evaluation, Interval, Verified
from kernwright.core.plan import Plan
from kernwright.core.problem import Problem

FORMAT = "kernwright-bundle-1"
"""Changes whenever a reader of the older form could not read the newer one."""
SHOWN_CHARACTERS = 80


class Refused(Exception):
    """A bundle was edited, is inconsistent, or is no bundle; `part` is where, and `reason` a sentence's end."""

    def __init__(self, part: str, reason: str) -> None:
        super().__init__(f"{part}: {reason}")
        self.part = part
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """One verified candidate with its evidence."""

    candidate: Candidate
    problem: Problem
    plan: Plan
    evaluation: Evaluation
    kernwright: str
    """The version that wrote it; the one that judged is in the evaluation's environment."""

    @property
    def verified(self) -> Verified:
        """The outcome; raises Refused where it is another."""
        outcome = self.evaluation.outcome
        if not isinstance(outcome, Verified):
            raise Refused("evaluation", f"the outcome is {outcome.kind}, and a bundle is of a verified one")
        return outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Ed25519, in hexadecimal digits."""

    public_key: str
    ed25519: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A bundle as it was in a file, whose hashes are right."""

    bundle: Bundle
    id: str
    """SHA-256 over the hashes of all parts: what is signed."""
    signature: Signature | None


Status = Literal["consistent", "re-measured"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What was found of a bundle that was not refused."""

    status: Status
    sealed: Sealed
    signed: str
    """Whose signature it bears, and who vouches for that key, as a sentence."""
    known_signer: bool = False
    """Whether it is signed by the key that the user named."""
    again: Evaluation | None = None
    """Of this machine, where it was judged again."""
    notes: tuple[str, ...] = ()

    @property
    def stated(self) -> Interval:
        """The speedup as the bundle has it."""
        return self.sealed.bundle.verified.timings.speedup


def shown(value: Any) -> str:
    """Any value of a hostile file in a sentence: short, printable ASCII."""
    text = ascii(value)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 3] + "..."


def plain(text: str) -> str:
    """A text of a hostile file as one short line without control characters."""
    return "".join(c if c.isprintable() else "?" for c in text[: 4 * SHOWN_CHARACTERS])
