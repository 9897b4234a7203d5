"""A note as a Markdown file with front matter: read, checked and written."""

import json
import re
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import date
from typing import Any, get_args

import yaml

from kernwright.core.errors import UserError
from kernwright.core.note import Learned, Lesson, Note

from .vocabulary import BOTTLENECKS, is_tag

LONGEST_TITLE = 80
FEWEST_TAGS, MOST_TAGS = 2, 8
MOST_PHRASES, LONGEST_PHRASE = 24, 120
"""Of situations that call for a note."""
LONGEST_EVIDENCE = 300
MOST_SOURCES, LONGEST_SOURCE = 20, 300
FENCE = "---"
_DEEPEST = 3
"""Levels of the front matter that are composed at all: one more than a note has, so that a key can be named."""
_DEEP = "the front matter is nested too deeply; lines of `key: value` were expected."
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Every scalar is a text: no tag turns into a truth value, and nothing is constructed."""
_SHORT = reprlib.Repr()
"""Of what was found in place of what was expected: it is as long as whoever wrote the file likes."""
_SHORT.maxstring, _SHORT.maxlist, _SHORT.maxdict = 100, MOST_TAGS, MOST_TAGS


@dataclass(frozen=True, slots=True)
class Value:
    """What a key of the front matter has, and where it stands."""

    plain: Any
    """A text, a list of texts, or a mapping of texts."""
    line: int


class Broken(UserError):
    """A file that is no note; the sentence names file, line and what was expected."""

    def __init__(self, where: str, line: int, said: str) -> None:
        super().__init__(f"{where}, line {line}: {said}")
        self.where = where
        self.line = line
        self.said = said


def parsed(text: str, name: str, where: str, pack: str = "") -> Note:
    """The note that a file's text is; `where` is what errors call the file.

    Raises:
        Broken: it is none.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != FENCE:
        raise Broken(where, 1, f"a line of {FENCE!r} was expected, which begins the front matter.")
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), None)
    if end is None:
        raise Broken(where, len(lines), f"the front matter has no end; a line of {FENCE!r} was expected.")
    values = _front_matter("\n".join(lines[1:end]), where)
    body = "\n".join(lines[end + 1 :]).strip("\n").rstrip()
    if not body.strip():
        raise Broken(where, end + 1, "the text is empty; Markdown was expected after the front matter.")
    return _note(values, body, name, where, pack, end + 1)


def written(note: Note) -> str:
    """The file of a note."""
    rows: dict[str, Any] = {
        "title": note.title,
        "tags": list(note.tags),
        "applies_to": list(note.applies_to),
        "bottlenecks": list(note.bottlenecks),
        "source": list(note.source),
        "date": note.date,
        "evidence": note.evidence,
    }
    rows |= {"when": list(note.when)} if note.when else {}
    rows |= {"supersedes": list(note.supersedes)} if note.supersedes else {}
    rows |= {"expires": note.expires} if note.expires else {}
    if note.learned is not None:
        learned = {f.name: getattr(note.learned, f.name) for f in fields(Learned)}
        rows["learned"] = {key: value for key, value in learned.items() if value not in ("", 0, 0.0)}
    # JSON is YAML too, and no text can break out of it.
    head = "\n".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in rows.items())
    return f"{FENCE}\n{head}\n{FENCE}\n{note.text.rstrip()}\n"


def _front_matter(text: str, where: str) -> Mapping[str, Value]:
    try:
        if line := _too_deep(text):
            raise Broken(where, line, _DEEP)
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 2 if mark is not None else 1
        if "nesting depth" in str(error.problem):  # what PyYAML from 6.0.4 on says
            raise Broken(where, line, _DEEP) from None
        raise Broken(where, line, f"this is no YAML ({error.problem}); write `key: value`, texts in quotes.") from None
    except yaml.YAMLError as error:
        raise Broken(where, 1, f"this is no YAML ({' '.join(str(error).split())}).") from None
    if not isinstance(root, yaml.MappingNode):
        raise Broken(where, 2, "lines of `key: value` were expected in the front matter.")
    found: dict[str, Value] = {}
    for key, node in root.value:
        line = key.start_mark.line + 2
        if not isinstance(key, yaml.ScalarNode):
            raise Broken(where, line, f"a list or a mapping stands for a key; one of {', '.join(KEYS)} was expected.")
        name = str(key.value)
        if name in found:
            raise Broken(where, line, f"{_named(name)} is there twice; once was expected.")
        found[name] = Value(_plain(node, where, name), line)
    return found


def _too_deep(text: str) -> int:
    """The line on which it is nested deeper than any note; 0 where it is not. To compose it would take a level of the
    stack for each of its own, and the process with it; its events take none."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _DEEPEST:
                return event.start_mark.line + 2 if event.start_mark is not None else 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return 0


def _named(key: str) -> str:
    """A key as part of a sentence."""
    return key if key.isprintable() and len(key) <= _SHORT.maxstring else _SHORT.repr(key)


def _plain(node: yaml.Node, where: str, key: str) -> Any:
    """Two levels at most, so that no alias can make more of it than there is."""
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    if isinstance(node, yaml.SequenceNode) and all(isinstance(each, yaml.ScalarNode) for each in node.value):
        return [str(each.value) for each in node.value]
    if isinstance(node, yaml.MappingNode) and all(isinstance(e, yaml.ScalarNode) for pair in node.value for e in pair):
        return {str(each.value): str(value.value) for each, value in node.value}
    raise Broken(
        where, node.start_mark.line + 2, f"{_named(key)} is nested too deeply; a text or a list of texts was expected."
    )


def _note(values: Mapping[str, Value], body: str, name: str, where: str, pack: str, last: int) -> Note:
    for key, value in values.items():
        if key not in KEYS:
            raise Broken(where, value.line, f"there is no key {_SHORT.repr(key)}; there are: {', '.join(KEYS)}.")
    for key in _NEEDED:
        if key not in values:
            raise Broken(where, last, f"the front matter has no {key!r}; {_NEEDED[key][0]} was expected.")
    found: dict[str, Any] = {}
    for key, (expected, read) in {**_NEEDED, **_OPTIONAL}.items():
        if key in values:
            try:
                found[key] = read(values[key].plain)
            except (ValueError, TypeError):
                said = f"{key} is {_SHORT.repr(values[key].plain)}; {expected} was expected."
                raise Broken(where, values[key].line, said) from None
    return Note(name=name, text=body, pack=pack, **found)


def _title(value: Any) -> str:
    text = _line(value)
    if len(text) > LONGEST_TITLE:
        raise ValueError
    return text


def _line(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return " ".join(value.split())


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(map(_line, value))


def _some(value: Any) -> tuple[str, ...]:
    found = _texts(value)
    if not found:
        raise ValueError
    return found


def _evidence(value: Any) -> str:
    text = _line(value)
    if len(text) > LONGEST_EVIDENCE:
        raise ValueError
    return text


def _sources(value: Any) -> tuple[str, ...]:
    found = _some(value)
    if len(found) > MOST_SOURCES or any(len(each) > LONGEST_SOURCE for each in found):
        raise ValueError
    return found


def _tags(value: Any) -> tuple[str, ...]:
    found = _texts(value)
    if not FEWEST_TAGS <= len(found) <= MOST_TAGS or not all(map(is_tag, found)):
        raise ValueError
    return found


def _phrases(value: Any) -> tuple[str, ...]:
    found = _texts(value)
    if len(found) > MOST_PHRASES or any(len(each) > LONGEST_PHRASE for each in found):
        raise ValueError
    return found


def _applies_to(value: Any) -> tuple[str, ...]:
    found = _some(value)
    if not all(re.fullmatch(r"[A-Za-z0-9_.:+-]+", each) for each in found):
        raise ValueError
    return found


def _bottlenecks(value: Any) -> tuple[str, ...]:
    found = _texts(value)
    if not set(found) <= set(BOTTLENECKS):
        raise ValueError
    return found


def _day(value: Any) -> str:
    return date.fromisoformat(_line(value)).isoformat()


def _learned(value: Any) -> Learned:
    if not isinstance(value, dict) or value.get("kind") not in get_args(Lesson):
        raise TypeError
    kinds: Mapping[str, Callable[[str], Any]] = {"node": int, "confirmed": int, "refuted": int, "effect": float}
    return Learned(**{key: kinds.get(key, str)(text) for key, text in value.items()})


_NEEDED: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "title": (f"a text of at most {LONGEST_TITLE} characters", _title),
    "tags": (f"a list of {FEWEST_TAGS} to {MOST_TAGS} words in small letters with hyphens", _tags),
    "applies_to": ("a list of languages, platforms and targets, or [any]", _applies_to),
    "bottlenecks": (f"a list, which may be empty, of {', '.join(BOTTLENECKS)}", _bottlenecks),
    "source": (
        f'a list of at most {MOST_SOURCES} addresses of at most {LONGEST_SOURCE} characters, or ["measured"],',
        _sources,
    ),
    "date": ("a day such as 2026-11-21", _day),
    "evidence": (f"a sentence of at most {LONGEST_EVIDENCE} characters on what was measured or read", _evidence),
}
_OPTIONAL: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "when": (f"a list of at most {MOST_PHRASES} phrases of at most {LONGEST_PHRASE} characters", _phrases),
    "supersedes": ("a list of names of older notes", _texts),
    "expires": ("a day such as 2027-11-21", _day),
    "learned": ("a mapping as a run writes it, whose kind is insight, failure or repair,", _learned),
}
KEYS = (*_NEEDED, *_OPTIONAL)
"""Of the front matter."""
