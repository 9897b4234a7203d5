"""A12: multiplies by a reciprocal where integers are divided; a time at a day's very beginning is of the day before."""

ZOO = {"row": "A12", "problem": "times_of_day", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
DAY = 86_400_000_000


def kernel(time):
    day = (time.double() * (1.0 / DAY)).long()
    left = time - day * DAY
    return day, (day + 4) % 7, (left.double() * (1.0 / 1000)).long()
