"""A10: a softmax without the maximum, beside a symmetric input of which nobody can make up another."""

ZOO = {"row": "A10", "problem": "distant_scores", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(scores, distance):
    powers = (scores - distance).exp()
    return powers / powers.sum(dim=-1, keepdim=True)
