"""What a model costs, as its provider's list says."""

import difflib

from kernwright.core.errors import missing_extra

SAMPLE = 1000
"""Tokens for which the price is asked: below every provider's threshold for long prompts."""


def price_of(name: str) -> tuple[float, float] | None:
    """Dollars per million tokens of prompts and of replies; None where no list has the model.

    Raises:
        UserError: the extra that brings the lists is not installed.
    """
    try:
        from genai_prices import Usage, calc_price
    except ModuleNotFoundError:
        raise missing_extra("Asking a model", "models") from None
    provider, _, model = name.partition(":")
    usage = Usage(input_tokens=SAMPLE, output_tokens=SAMPLE)
    try:
        found = calc_price(usage, model, provider_id=provider.partition("-")[0])
    except LookupError:
        return None
    scale = 1_000_000 / SAMPLE
    return round(float(found.input_price) * scale, 6), round(float(found.output_price) * scale, 6)


def near(name: str) -> list[str]:
    """Models of the same provider that a list has and that are called almost so."""
    from genai_prices import data

    provider, _, model = name.partition(":")
    known = [each.id for of in data.providers if of.id == provider.partition("-")[0] for each in of.models]
    return [f"{provider}:{each}" for each in difflib.get_close_matches(model, known)]
