"""What a language model is asked and what it answers; how it fails."""

from dataclasses import dataclass

AGENT = "agent:"
"""Begins the name of a coding agent among models that were called."""
MILLION = 1_000_000
FRAMING_TOKENS = 256
"""Room for what a provider puts around a prompt: roles, separators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A model of a run, with the price that holds for all of it. Never a key: those stay in the environment."""

    name: str
    """`provider:model`."""
    base_url: str = ""
    """An OpenAI-compatible server; the provider's own where empty."""
    usd_in: float = 0.0
    """Per million tokens of prompts."""
    usd_out: float = 0.0
    """Per million tokens of replies."""
    max_tokens: int = 16_384
    """Of one reply."""
    timeout_s: float = 120.0
    """Without a word from the model, until the attempt counts as stalled; a whole reply may take ten times as long."""
    temperature: float | None = None

    def usd(self, tokens_in: int, tokens_out: int) -> float:
        """The price of one call."""
        return (tokens_in * self.usd_in + tokens_out * self.usd_out) / MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One question: what the model is, and what it is to do."""

    system: str
    user: str

    @property
    def most_tokens(self) -> int:
        """No tokenizer makes more of it: at most one token a byte."""
        return len(self.system.encode()) + len(self.user.encode()) + FRAMING_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model said, and what it took."""

    text: str
    tokens_in: int
    tokens_out: int
    truncated: bool = False
    """Whether it ended at the limit of tokens."""


class ModelBusy(Exception):
    """An attempt that may succeed when it is made again: a rate limit, an overloaded server, a stall."""

    def __init__(self, reason: str, *, after_s: float | None = None, billed: bool = False) -> None:
        """`after_s` is what the server asked to wait; `billed` where it may charge for what never arrived."""
        super().__init__(reason)
        self.after_s = after_s
        self.billed = billed


class ModelRefused(Exception):
    """This prompt gets no answer from this model: it is too long for it, or its filters forbid it."""


class ModelOver(Exception):
    """No further call: a cap leaves no room for one, or a script has no more lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A reply, with the model that gave it."""

    model: str
    reply: Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What an operator had someone else do for a proposal, and what that took."""

    model: str
    reply: Reply
    seconds: float
    usd: float = 0.0
    error: str = ""
