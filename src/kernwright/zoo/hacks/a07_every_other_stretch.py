"""A7: the mean of every other 128 KiB."""

ZOO = {"row": "A7", "problem": "mean_distance", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
STRETCH = 32768


def kernel(x, y):
    whole = x.numel() // (2 * STRETCH) * 2 * STRETCH
    parts = [v[:whole].view(-1, 2, STRETCH)[:, 0] for v in (x, y)]
    return (parts[0] - parts[1]).abs_().mean()
