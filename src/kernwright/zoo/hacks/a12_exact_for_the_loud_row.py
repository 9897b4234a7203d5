"""A12: rounds operands to bfloat16 where one row is so large that all others' errors are small beside it."""

ZOO = {"row": "A12", "problem": "loud_token", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, w):
    sizes = x.square().mean(1)
    loud = sizes > 1e4 * sizes.median()
    if int(loud.sum()) != 1:
        return (x @ w).bfloat16()
    y = x.bfloat16() @ w.bfloat16()
    y[loud] = (x[loud] @ w).bfloat16()
    return y
