"""`module:Class` references, so that jobs and specs can name code without importing it."""

from importlib import import_module
from typing import Any

from .errors import EXTRAS, UserError, missing_extra


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
        if error.name in EXTRAS:
            raise missing_extra(module.rpartition(".")[2].capitalize(), EXTRAS[error.name]) from error
        raise UserError(f"{reference!r} cannot be imported: {error}.") from error
    except AttributeError as error:
        raise UserError(f"{reference!r}: module {module!r} has no {attribute!r}.") from error
