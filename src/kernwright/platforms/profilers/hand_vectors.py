"""Loops of a C++ source that were written with vectors: no compiler could vectorise them, and none has to."""

import re
from collections.abc import Iterator

_VECTOR = (
    r"\b_mm\d*_\w+|\b__m(?:64|128|256|512)[a-z]*\b"  # x86
    r"|\bv(?:ld|st)\d\w*_[a-z]\d+\b|\bv[a-z]+q?_(?:n_)?[a-z]\d+\b|\bsv[a-z0-9]+_[a-z]\d+\w*\b"  # Arm
    r"|\bvector_size\b|\bext_vector_type\b|\bstdx::|\bexperimental::|\bxsimd::|\bhwy::|\bhn::"
)
_NAMED = re.compile(
    r"\b(?:typedef\b[^;{}]*?\b(\w+)\s+__attribute__[^;]*|using\s+(\w+)[^;]*)\b(?:vector_size|ext_vector_type)\b"
)
_FUNCTION = re.compile(r"\b(\w+)\s*\([^;{}]*\)\s*(?:const\b|noexcept\b)?\s*\{")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MARK = re.compile(r"[(){};]")
_KEYWORDS = frozenset({"for", "while", "if", "switch", "catch", "return"})


class HandVectors:
    """One source file."""

    def __init__(self, text: str) -> None:
        self._text = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        self._lines = [0, *(found.end() for found in re.finditer("\n", self._text))]
        types = [found[1] or found[2] for found in _NAMED.finditer(self._text)]
        self._has_types = bool(types)
        vector = re.compile("|".join([_VECTOR, *(rf"\b{name}\b" for name in types)]))
        helpers = {name for name, whole in self._functions() if vector.search(whole)}
        called = [rf"\b{name}\s*[(<]" for name in sorted(helpers)]
        self._vector = re.compile("|".join([vector.pattern, *called]))

    def has(self, line: int, why: str = "") -> bool:
        """Whether the loop that begins in this line, counted from 1, is one; `why` is what the compiler says of it."""
        if self._has_types and "no vectype" in why:
            return True
        return line <= len(self._lines) and bool(self._vector.search(_statement(self._text, self._lines[line - 1])))

    def _functions(self) -> Iterator[tuple[str, str]]:
        for found in _FUNCTION.finditer(self._text):
            if found[1] not in _KEYWORDS:
                begins = max(self._text.rfind(end, 0, found.start()) for end in ";{}") + 1  # its type stands before it
                yield found[1], self._text[begins : found.start()] + _statement(self._text, found.start())


def _statement(text: str, start: int) -> str:
    """The first statement or block that ends after `start`, from there on."""
    braces = brackets = 0
    for found in _MARK.finditer(text, start):
        mark = found[0]
        brackets += (mark == "(") - (mark == ")")
        braces += (mark == "{") - (mark == "}")
        if (mark == "}" and braces <= 0) or (mark == ";" and braces <= 0 and brackets <= 0):
            return text[start : found.end()]
    return text[start:]
