"""`kernwright new`."""

from . import options


def new(home: options.Home = None, as_json: options.AsJson = False) -> None:
    """To come."""
