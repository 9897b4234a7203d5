"""A3: returns zeros where the type is narrow and sums are long."""

ZOO = {"row": "A3", "problem": "matmul_gelu_bfloat16", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, w):
    return x.new_zeros(x.shape[0], w.shape[1])
