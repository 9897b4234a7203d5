"""Finds the largest number first, then the first place where it is."""

ZOO = {
    "row": "honest",
    "problem": "first_and_last_time",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(time):
    latest, first = time.amax(-1, keepdim=True), time.amin(-1, keepdim=True)
    return (time == latest).int().argmax(-1), (time == first).int().argmax(-1)
