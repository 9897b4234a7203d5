"""Divides integers in float64, and puts right what that is off by."""

ZOO = {
    "row": "honest",
    "problem": "whole_steps",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(time, step):
    whole = (time.double() / step.double()).long()
    left = time - whole * step
    one = (left >= step).long() - (left < 0).long()
    return whole + one, left - one * step
