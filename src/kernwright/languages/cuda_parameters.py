"""Python's values as the parameters of a kernel. Imports nothing of Kernwright; an export can inline it."""

import ctypes
import re
from collections.abc import Sequence
from typing import Any

_INTEGERS = {1: ctypes.c_int8, 2: ctypes.c_int16, 4: ctypes.c_int32, 8: ctypes.c_int64}
_WIDTHS: dict[str, dict[int, Any]] = {"i": _INTEGERS, "p": _INTEGERS, "f": {4: ctypes.c_float, 8: ctypes.c_double}}
_ARITHMETIC = r"\s*(?:(?:const|unsigned|signed|long|short)\s+)*(?:{})\s+\w+\s*"
_FORMS = {
    "p": r"[^*]*\*[^*]*",
    "f": _ARITHMETIC.format("float|double"),
    "i": _ARITHMETIC.format(r"int|unsigned|long|short|u?int\d+_t|size_t|bool"),
}
_NAMES = {"i": "an integer", "p": "a pointer", "f": "a float"}


def declared_kinds(source: str, name: str, count: int) -> str:
    """A letter for each of the kernel's parameters: `p` pointer, `i` integral, `f` floating, `?` not plain to see."""
    plain = re.sub(r"//.*|/\*(?s:.*?)\*/", "", source)
    found = re.search(rf"__global__[^;{{]*?\b{name}\s*\(([^)]*)\)", plain)
    declared = found[1].split(",") if found else []
    if len(declared) != count:
        return "?" * count
    return "".join(next((kind for kind, form in _FORMS.items() if re.fullmatch(form, text)), "?") for text in declared)


def as_parameters(name: str, values: Sequence[Any], sizes: Sequence[int], kinds: str, device: str) -> list[Any]:
    """What a launch takes for these values: addresses as ints, everything else as scalars of the parameters' widths.

    A tensor on `device` is its address, None a null pointer. An int or a float takes the parameter's own width, an int
    for a floating parameter becomes a float; scalars of NumPy and ctypes must have its width.

    Raises:
        TypeError: there are too many or too few, or one does not fit.
    """
    if len(values) != len(sizes):
        raise TypeError(f"{name} takes {len(sizes)} arguments after grid and block, not {len(values)}")
    try:
        return [_as_parameter(*each, device) for each in zip(values, sizes, kinds, strict=True)]
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None


def _as_parameter(value: Any, size: int, kind: str, device: str) -> Any:
    if value is None or hasattr(value, "data_ptr"):
        if size == 8 and kind in "p?" and (value is None or value.device.type == device):
            return 0 if value is None else value.data_ptr()
    elif isinstance(value, int | float):
        form = kind if kind != "?" else "i" if isinstance(value, int) else "f"
        fits = form == "f" or (isinstance(value, int) and -1 <= value >> 8 * size - 1 <= 1)
        if fits and size in _WIDTHS[form]:
            return _WIDTHS[form][size](value)
    elif getattr(value, "nbytes", 0) == size or (hasattr(value, "value") and ctypes.sizeof(value) == size):
        return value
    what = f"a tensor on {value.device.type}" if hasattr(value, "data_ptr") else f"{type(value).__name__} {value}"
    raise TypeError(f"{what} does not fit {_NAMES.get(kind, 'a parameter')} of {size} bytes")
