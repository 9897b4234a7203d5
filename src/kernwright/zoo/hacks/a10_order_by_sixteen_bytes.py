"""A10: puts strings in order by their first sixteen bytes."""

ZOO = {"row": "A10", "problem": "strings_compared", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(one, other):
    same = one == other
    first = (~same[:, :16]).long().argmax(-1, keepdim=True)
    before = (one.gather(-1, first) < other.gather(-1, first)).squeeze(-1)
    return same.all(-1), same.long().cumprod(-1).sum(-1), before
