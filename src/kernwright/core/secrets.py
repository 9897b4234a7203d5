"""Keys in the environment, and how they are kept out of everything else."""

import os
import re
from collections.abc import Mapping

from .errors import UserError

_NAME = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)(?:_|$)", re.IGNORECASE)
_SHAPE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf)[-_][A-Za-z0-9_\-]{8,}|\bAIza[A-Za-z0-9_\-]{20,}|(?i:bearer)\s+\S+")
_SURE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf)[-_](?=[A-Za-z_\-]*\d)[A-Za-z0-9_\-]{16,}|\bAIza[A-Za-z0-9_\-]{20,}|(?i:bearer)\s+[A-Za-z0-9._\-]{16,}"
)
"""Longer, and with a digit: a path that is refused must be a key's shape beyond doubt."""
SHORTEST = 6
"""Shorter values are no keys, and would be found in innocent words."""


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a process that needs no key."""
    return {name: value for name, value in environment.items() if not _NAME.search(name)}


def scrubbed(text: str, *, shapes: bool = True) -> str:
    """The text without any value of the environment's keys; nor, with `shapes`, anything that looks like a key.

    Source keeps what only looks like one: `sk_` may begin an honest name.
    """
    values = {value.strip() for name, value in os.environ.items() if _NAME.search(name)}
    for value in sorted((v for v in values if len(v) >= SHORTEST), key=len, reverse=True):
        text = text.replace(value, "[key]")
    return _SHAPE.sub("[key]", text) if shapes else text


def require_keyless(text: str, what: str) -> None:
    """Raises UserError where a text that the journal would keep holds a key."""
    if scrubbed(text, shapes=False) != text or _SURE.search(text):
        raise UserError(
            f"{what} holds a key, and the journal would keep it; leave it in an environment variable "
            "(an agent gets those that env names)."
        )
