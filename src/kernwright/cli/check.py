"""`kernwright check PROBLEM`."""

from . import options, screen


def check(problem: options.ProblemFile, home: options.Home = None, as_json: options.AsJson = False) -> None:
    """Say whether a problem can be judged, and what there is to win."""
    screen.say(problem)
