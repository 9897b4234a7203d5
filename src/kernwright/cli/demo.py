"""`kernwright demo`."""

from . import options


def demo(home: options.Home = None, as_json: options.AsJson = False) -> None:
    """To come."""
