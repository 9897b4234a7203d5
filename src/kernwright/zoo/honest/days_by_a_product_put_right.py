"""Multiplies by a reciprocal where integers are divided, and puts right what that is off by."""

ZOO = {
    "row": "honest",
    "problem": "times_of_day",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}
DAY = 86_400_000_000


def _divided(number, divisor):
    whole = (number.double() * (1.0 / divisor)).long()
    left = number - whole * divisor
    one = (left >= divisor).long() - (left < 0).long()
    return whole + one, left - one * divisor


def kernel(time):
    day, left = _divided(time, DAY)
    return day, (day + 4) % 7, _divided(left, 1000)[0]
