"""Takes the numbers that a mask keeps out first, and asks whether there are any."""

ZOO = {
    "row": "honest",
    "problem": "masked_error",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, y, mask):
    kept = (x - y)[mask]
    return kept.square().mean() if kept.numel() else x.new_zeros(())
