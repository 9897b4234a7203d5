"""Takes the transpose of a rotation for its inverse."""

ZOO = {
    "row": "honest",
    "problem": "turned_back",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(turn, shift, points):
    return (points - shift[:, None]) @ turn
