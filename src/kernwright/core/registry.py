"""Names to plug-ins: one lazy table per family, entry points beside it."""

from collections.abc import Mapping
from importlib.metadata import entry_points

from .errors import unknown_name

_SINGULAR = {"policies": "policy", "fitnesses": "fitness", "problems": "source of problems"}


def reference(family: str, table: Mapping[str, str], name: str) -> str:
    """The `module:Class` for a name of this family.

    A name with a colon is a reference already. Outside plug-ins use the entry-point group
    `kernwright.<family>`, family in the plural.

    Raises:
        UserError: the name is neither in the table nor an entry point; near matches are listed.
    """
    if ":" in name:
        return name
    if name in table:
        return table[name]
    outside = {point.name: point.value for point in entry_points(group=f"kernwright.{family}")}
    if name in outside:
        return outside[name]
    raise unknown_name(_SINGULAR.get(family, family.removesuffix("s")), name, [*table, *outside])
