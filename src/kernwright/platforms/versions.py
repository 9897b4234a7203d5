"""Versions of packages, for the record."""

from importlib.metadata import PackageNotFoundError, version


def installed(package: str) -> str:
    """Its version, or that it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
