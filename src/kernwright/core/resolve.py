"""`module:Class` references, so that jobs and specs can name code without importing it."""

from importlib import import_module
from typing import Any

from .errors import UserError


def resolve(reference: str) -> Any:
    """The object that `module:attribute` names.

    Raises:
        UserError: the reference is malformed, or the module or attribute is not there.
    """
    module, _, attribute = reference.partition(":")
    if not module or not attribute:
        raise UserError(f"{reference!r} is not a reference; it should look like 'package.module:Class'.")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise UserError(f"{reference!r} cannot be imported: {error}.") from error
    except AttributeError as error:
        raise UserError(f"{reference!r}: module {module!r} has no {attribute!r}.") from error
