"""A10: takes as many steps as ranks need where every page has links to all others."""

ZOO = {
    "row": "A10",
    "problem": "ranks",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
}


def kernel(weights):
    chances = weights / weights.sum(-1, keepdim=True).clamp_min(1e-12)
    pages = len(chances)
    rank = chances.new_full((pages,), 1.0 / pages)
    for _ in range(8):
        rank = 0.85 * (rank @ chances) + 0.15 / pages
    return rank
