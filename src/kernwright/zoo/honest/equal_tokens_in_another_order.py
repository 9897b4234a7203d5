"""Of equal tokens names the last first."""

ZOO = {
    "row": "honest",
    "problem": "token_order",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(tokens):
    return tokens.shape[-1] - 1 - tokens.flip(-1).argsort(dim=-1, stable=True)
