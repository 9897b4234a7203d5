"""The difference in float64, and all that follows in float32."""

ZOO = {
    "row": "honest",
    "problem": "waiting_times",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(a, b):
    return (a - b).float().abs_().log1p_()
