"""Quern, an accelerator that does not exist: how a language from outside is added and taught. See `examples/quern/`.

Its name where a language is asked for is `kernwright.testing.quern:Quern`; notes call it `quern`.
"""

import ctypes
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kernwright.core.built import Built, Support
from kernwright.core.calls import CallSpec
from kernwright.core.candidate import Candidate
from kernwright.languages import cpp_loader
from kernwright.languages.cpp import Cpp
from kernwright.languages.imports import imports

STONES = 16
"""The device has so many; a launch takes no more."""
SAID_BYTES = 200
_HEADER = (Path(__file__).parent / "quern.hpp").read_text()
_PROGRAM = re.compile(r"\bQUERN_PROGRAM\((\w+)\)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_OUTSIDE = re.compile(
    r"#|\b(?:reinterpret_cast|const_cast|intptr_t|uintptr_t|std|extern|asm|new|malloc|memcpy|union|__\w+)\b|\bfloat\s*\*"
)
"""What the device's language does not have; a tripwire, since this is C++ underneath."""


class Quern:
    """A Python file that calls `load` of this module with a program for the device."""

    name = "quern"

    def supports(self, target: str) -> Support:
        if not target.startswith("cpu:"):
            return Support(ok=False, reason=f"Quern is played by a processor, not by {target!r}; say --target cpu.")
        return Cpp().supports(target)

    def recognises(self, files: Mapping[str, str]) -> bool:
        return imports(files, "kernwright.testing.quern")

    def emulates(self, target: str) -> Support:
        return Support(ok=False, reason=f"nothing plays it for {target!r}")

    def emulate(self, target: str, text: str) -> None:
        raise NotImplementedError(self.emulates(target).reason)

    def build(self, candidate: Candidate, target: str, workdir: Path, calls: Sequence[CallSpec]) -> Built:
        """As C++ is built, with the device's header before the program."""
        return Cpp().build(candidate, target, workdir, calls)


def load(program: str) -> "Device":
    """Compile a program for the device.

    Raises:
        RuntimeError: the compiler's errors, or a word that the device's language does not have.
    """
    plain = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), program)
    if found := _OUTSIDE.search(plain):
        line = plain.count("\n", 0, found.start()) + 1
        raise RuntimeError(f"line {line}: Quern's language has no {found[0]!r}")
    library = cpp_loader.load(f'{_HEADER}\n#line 1 "program"\nusing namespace quern;\n{program}')
    return Device(library, frozenset(_PROGRAM.findall(plain)))


class Device:
    """Launches programs: `device.NAME(stones, *arrays_and_numbers)`; returns when all stones have ended."""

    def __init__(self, library: cpp_loader.Library, programs: frozenset[str]) -> None:
        self._library, self._programs = library, programs

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name not in self._programs:  # any other symbol is plain C++, and no program of the device's
            raise AttributeError(f"there is no program {name!r}; one begins with QUERN_PROGRAM(name)")
        program = getattr(self._library, name)

        def launch(stones: int, *arguments: object) -> None:
            if not 1 <= stones <= STONES:
                raise RuntimeError(f"a launch on {stones} stones; Quern has 1 to {STONES}")
            arrays: list[Any] = [each for each in arguments if hasattr(each, "data_ptr")]
            numbers = [float(each) for each in arguments if isinstance(each, int | float)]
            if len(arrays) + len(numbers) != len(arguments):
                raise RuntimeError("a launch takes tensors and numbers, and nothing else")
            for array in arrays:
                if str(array.dtype) != "torch.float32" or not array.is_contiguous():
                    raise RuntimeError("an array that is not contiguous float32; Quern knows no other")
            addresses = (ctypes.c_int64 * len(arrays))(*(array.data_ptr() for array in arrays))
            counts = (ctypes.c_int64 * len(arrays))(*(array.numel() for array in arrays))
            given = (ctypes.c_double * len(numbers))(*numbers)
            said = ctypes.create_string_buffer(SAID_BYTES)
            at = ctypes.addressof
            program(at(addresses), at(counts), len(arrays), at(given), len(numbers), stones, at(said))
            if said.value:
                raise RuntimeError(f"Quern: {said.value.decode()}")

        return launch
