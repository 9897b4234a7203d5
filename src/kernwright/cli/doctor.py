"""`kernwright doctor`."""

from . import options


def doctor(home: options.Home = None, as_json: options.AsJson = False) -> None:
    """To come."""
