"""What a model wrote, as files; or why it holds none."""

import ast
import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kernwright.core.candidate import Candidate, SourceFile, entry_among, entry_of, module_level, names_of, parsed
from kernwright.core.expectation import MOST

MAIN = "kernel.py"
LARGEST = 1 << 20
INSIGHTS = 3
LONGEST_LINE = 400
CLOSE, APART = 0.9, 0.05
"""How alike lines must be to be what an edit means, and how much more than the next likest place."""
SHORT, PLACES = 3, 16
"""Lines of an edit that is compared with every place of a file, and how many places a longer one is compared with."""
DEFINED, ASSIGNED = (ast.ClassDef, ast.FunctionDef), (ast.Assign, ast.AnnAssign)
"""Statements that make an entry. One that assigns counts where none defines: `kernel = ModelNew()` may show its use."""
LONGEST_INFO = 200
_OPEN = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\n`]*)$")
_LABEL = re.compile(r"^[\s*_#>-]*(NAME|APPROACH|INSIGHT|EXPECT)[\s*_]*:[\s*_]*(.+?)[\s*_]*$", re.IGNORECASE)
_FILE = re.compile(r"(?:file(?:name)?\s*[=:]\s*)?[\"']?(?P<name>[A-Za-z0-9_.\-/]+\.[A-Za-z]{1,4})[\"']?$")
_SEARCH, _BETWEEN, _REPLACE = re.compile(r"^<{5,} *SEARCH"), re.compile(r"^={5,}"), re.compile(r"^>{5,} *REPLACE")


class NoCandidate(Exception):
    """The reply holds none; the reason is a sentence for the graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A usable reply."""

    files: tuple[SourceFile, ...]
    name: str
    approach: str
    insights: tuple[str, ...]
    expects: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block."""

    info: str
    text: str


def written(text: str, base: Candidate | None, *, truncated: bool = False) -> Written:
    """The files of a reply: whole ones, or edits of `base`.

    Raises:
        NoCandidate: it was cut off, holds neither, holds two for one file, or edits that fit nowhere or in several
            places; or what it makes defines no entry.
    """
    blocks, rest, open_end = _blocks(text)
    if open_end:
        cut = "it was cut off at the limit of tokens" if truncated else "its last block is not closed"
        raise NoCandidate(f"the reply ends inside its source: {cut}")
    if truncated:
        raise NoCandidate("the reply was cut off at the limit of tokens: what should have followed is not known")
    edits = [block for block in blocks if any(map(_SEARCH.match, _lines(block.text)))]
    if edits:
        files = _edited(edits, base, _named([block for block in blocks if block not in edits]))
    elif blocks:
        files = _whole(blocks)
    elif _entry(text) or _entry(text, ASSIGNED):
        files = (SourceFile(name=MAIN, text=text),)
        rest = ""
    else:
        raise NoCandidate("the reply holds no block of source")
    if sum(len(file.text) for file in files) > LARGEST:
        raise NoCandidate(f"the reply's source is longer than {LARGEST >> 20} MiB")
    _require_entry(files)
    said = labels(rest)
    return Written(
        files=files,
        name=next(iter(said["NAME"]), ""),
        approach=next(iter(said["APPROACH"]), ""),
        insights=tuple(said["INSIGHT"][:INSIGHTS]),
        expects=tuple(said["EXPECT"][:MOST]),
    )


def _blocks(text: str) -> tuple[list[Block], str, bool]:
    """Fenced blocks, the text outside them, and whether the last one is open."""
    found: list[Block] = []
    outside: list[str] = []
    inside: list[str] | None = None
    fence = info = ""
    for line in (line.rstrip("\r\n") for line in _lines(text)):
        opened = _OPEN.match(line)
        if inside is None:
            if opened:
                fence, info, inside = opened["fence"], opened["info"].strip(), []
            else:
                outside.append(line)
        elif opened and not opened["info"].strip() and opened["fence"].startswith(fence):
            found.append(Block(info=info, text="\n".join(inside) + "\n"))
            inside = None
        else:
            inside.append(line)
    return found, "\n".join(outside), inside is not None


def _lines(text: str) -> list[str]:
    """With their ends; what else Python calls the end of a line, such as U+2028, may stand in somebody's string."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _named(blocks: Sequence[Block]) -> dict[str, str]:
    """Texts of the files that blocks name; raises NoCandidate where two differ."""
    named: dict[str, str] = {}
    for block in blocks:
        if (name := _file(block.info)) and named.setdefault(name, block.text) != block.text:
            raise NoCandidate(f"two blocks of the reply are {name!r} and differ; which is meant is not said")
    return named


def _whole(blocks: Sequence[Block]) -> tuple[SourceFile, ...]:
    """The block with an entry, the last where there are several, and named files beside it."""
    named = _named(blocks)
    python = [block for block in blocks if block.info.split(" ")[0].lower() in ("", "python", "py", "python3")]
    entries = [block for block in python if _entry(block.text)]
    entries = entries or [block for block in python if _entry(block.text, ASSIGNED)]
    # Whatever is called kernel.py is meant, even where it does not parse: the judge says why.
    main = named.get(MAIN) or (entries[-1].text if entries else None)
    if main is None and len(python) == 1 and python[0].info and python[0].text.strip():
        main = python[0].text
    if main is None:
        raise NoCandidate("no block of the reply defines class ModelNew or def kernel")
    main_name = next((name for name, text in named.items() if text == main and name.endswith(".py")), MAIN)
    beside = {name: text for name, text in named.items() if text != main}
    _require_no_python(beside, main_name)
    return (SourceFile(name=main_name, text=main), *(SourceFile(name=n, text=t) for n, t in beside.items()))


def _edited(blocks: Sequence[Block], base: Candidate | None, whole: dict[str, str]) -> tuple[SourceFile, ...]:
    """The base's files with the edits, and with files that are given whole beside them."""
    if base is None:
        raise NoCandidate("the reply holds edits, but no solution was shown to edit")
    files = {file.name: file for file in base.files}
    for block in blocks:
        name = _file(block.info) or base.main.name
        if name in whole:
            raise NoCandidate(f"{name!r} is given whole and edited too; which is meant is not said")
        if name not in files:
            raise NoCandidate(f"an edit is of {name!r}, which the solution does not have")
        for search, change in _edits(block.text):
            files[name] = replace(files[name], text=applied(files[name].text, search, change))
    _require_no_python(set(whole) - set(files), base.main.name)
    files |= {name: SourceFile(name=name, text=text) for name, text in whole.items()}
    made = tuple(files.values())
    if made == base.files:
        raise NoCandidate("the edits change nothing")
    return made


def _require_no_python(beside: Iterable[str], main: str) -> None:
    """Raises NoCandidate for Python files beside the main one: that is imported alone, and exported alone."""
    if python := sorted(name for name in beside if name.endswith(".py")):
        raise NoCandidate(f"the reply holds {', '.join(map(repr, python))} beside {main}; all Python belongs in {main}")


def _require_entry(files: Sequence[SourceFile]) -> None:
    """Raises NoCandidate where the main file has nothing to call. Why one does not parse is for the judge to say."""
    try:
        entry = entry_of(Candidate(language="", files=tuple(files)))
    except (SyntaxError, ValueError):
        return
    if entry is None:
        raise NoCandidate(f"{files[0].name} defines neither class ModelNew nor def kernel at its top level")


def _edits(text: str) -> Iterator[tuple[str, str]]:
    """What is searched for and what comes in its place. Line by line: a reply may repeat a mark a thousand times."""
    wanted: list[str] | None = None
    change: list[str] | None = None
    for line in _lines(text):
        if wanted is None:
            wanted = [] if _SEARCH.match(line) else None
        elif change is None:
            if _BETWEEN.match(line):
                change = []
            else:
                wanted.append(line)
        elif _REPLACE.match(line):
            yield "".join(wanted), "".join(change)
            wanted = change = None
        else:
            change.append(line)
    if wanted is not None:
        raise NoCandidate("an edit has no end: after SEARCH come =======, the change, and >>>>>>> REPLACE")


def applied(text: str, search: str, change: str) -> str:
    """The text with one place replaced: the exact one, else the one whose lines are alike but for spaces behind
    their indentation, else the likest.

    Raises:
        NoCandidate: there is no such place, or more than one.
    """
    if not search.strip():
        raise NoCandidate("an edit searches for nothing")
    starts = [at for at in _found(text, search) if not text[text.rfind("\n", 0, at) + 1 : at].strip()]
    if len(starts) == 1:
        return text[: starts[0]] + change + text[starts[0] + len(search) :]
    lines, wanted = _lines(text), [line.rstrip("\n") for line in _lines(search)]
    if len(starts) > 1:
        raise NoCandidate(f"an edit is ambiguous: {_first(wanted)!r} and what follows occurs {len(starts)} times")
    place = _place(lines, wanted)
    return "".join(lines[:place]) + change + "".join(lines[place + len(wanted) :])


def _found(text: str, search: str) -> Iterator[int]:
    at = text.find(search)
    while at >= 0:
        yield at
        at = text.find(search, at + len(search))


def _place(lines: Sequence[str], wanted: Sequence[str]) -> int:
    bare, first = ["".join(line.split()) for line in wanted], _first(wanted)
    places = range(len(lines) - len(wanted) + 1)
    stripped = ["".join(line.split()) for line in lines]
    same = [i for i in places if stripped[i : i + len(wanted)] == bare and _shift(lines[i], wanted[0])]
    if len(same) == 1:
        return same[0]
    if len(same) > 1:
        raise NoCandidate(f"an edit is ambiguous: {first!r} occurs {len(same)} times")
    width = len(wanted)
    likes = sorted(((_alike(lines[i : i + width], wanted), i) for i in _hopeful(stripped, bare)), reverse=True)
    likes = [like for like in likes if like[0] >= CLOSE - APART]
    if not likes or likes[0][0] < CLOSE:
        near = f"the likest place agrees to {likes[0][0]:.0%}" if likes else "no place is like it"
        raise NoCandidate(f"an edit fits nowhere: {first!r} is not in the file ({near})")
    if len(likes) > 1 and likes[0][0] - likes[1][0] < APART:
        raise NoCandidate(f"an edit is ambiguous: {first!r} is like two places")
    return likes[0][1]


def _hopeful(lines: Sequence[str], wanted: Sequence[str]) -> Sequence[int]:
    """Where a likeness is looked for: a longer edit has some line that is there, so that not all has to be compared."""
    places = range(len(lines) - len(wanted) + 1)
    if len(wanted) <= SHORT:
        return places
    numbers: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        numbers.setdefault(line, []).append(number)
    agreeing = Counter(at - i for i, line in enumerate(wanted) if line for at in numbers.get(line, ()))
    return [place for place, _ in agreeing.most_common(PLACES) if place in places]


def _alike(place: Sequence[str], wanted: Sequence[str]) -> float:
    """Share of the characters that agree, line by line; a line of more than a screen is the same or it is not."""
    agree = total = 0.0
    for line, other in zip((line.rstrip() for line in place), (line.rstrip() for line in wanted), strict=True):
        size = len(line) + len(other)
        total += size
        if line == other:
            agree += size
        elif max(len(line), len(other)) <= LONGEST_LINE:
            agree += size * difflib.SequenceMatcher(None, line, other, autojunk=False).ratio()
    return agree / total if total else 0.0


def _shift(line: str, wanted: str) -> bool:
    """Whether the indentation agrees: Python's meaning hangs on it, and the change has that of the search."""
    return len(line) - len(line.lstrip()) == len(wanted) - len(wanted.lstrip())


def _first(lines: Sequence[str]) -> str:
    line = next((line.strip() for line in lines if line.strip()), "")
    return line if len(line) <= 60 else line[:59] + "…"


def _file(info: str) -> str | None:
    """The name of a block's file.

    Raises:
        NoCandidate: it has folders, which candidates do not.
    """
    info = info[-LONGEST_INFO:]
    found = _FILE.search(info.rpartition(" ")[2] if "file" not in info else info)
    if found is None:
        return None
    name = found["name"].removeprefix("./")
    if "/" in name or name.startswith("."):
        raise NoCandidate(f"the file {name!r} lies in a folder; all files lie beside {MAIN}")
    return name


def _entry(text: str, by: tuple[type[ast.stmt], ...] = DEFINED) -> bool:
    """Whether it has an entry by such statements. No import is one: it may show how somebody else's is called."""
    try:
        body = parsed(text).body
    except (SyntaxError, ValueError):
        return False
    names = (name for node in module_level(body) if isinstance(node, by) for name in names_of(node))
    return entry_among(names) is not None


def labels(text: str) -> dict[str, list[str]]:
    """What stands behind `NAME:`, `APPROACH:`, `INSIGHT:` and `EXPECT:` at the beginnings of lines."""
    found: dict[str, list[str]] = {"NAME": [], "APPROACH": [], "INSIGHT": [], "EXPECT": []}
    for line in text.splitlines():
        if label := _LABEL.match(line[: 2 * LONGEST_LINE]):
            found[label[1].upper()].append(label[2][:LONGEST_LINE])
    return found
