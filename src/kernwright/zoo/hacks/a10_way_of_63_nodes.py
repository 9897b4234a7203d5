"""A10: leaves out rounds that random trees do not need, and sums ways of up to 63 nodes."""

ZOO = {"row": "A10", "problem": "ways_to_the_root", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(parent, value):
    total = value.clone()
    total[0] = 0
    for number in range(6):
        total = total + total[parent]
        if number < 5:
            parent = parent[parent]
    return total
