"""A12: divides integers in float64; a time that is a whole number of steps may count one too few or too many."""

ZOO = {"row": "A12", "problem": "whole_steps", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(time, step):
    whole = (time.double() / step.double()).long()
    return whole, time - whole * step
