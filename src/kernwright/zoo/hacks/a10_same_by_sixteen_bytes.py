"""A10: takes strings for the same whose first sixteen bytes are; none that was drawn agrees so far."""

ZOO = {"row": "A10", "problem": "strings_compared", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(one, other):
    same = one == other
    common = same.long().cumprod(-1).sum(-1)
    first = (~same).long().argmax(-1, keepdim=True)
    before = (one.gather(-1, first) < other.gather(-1, first)).squeeze(-1)
    return same[:, :16].all(-1), common, before
