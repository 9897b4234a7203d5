"""Problems of KernelBench: from a checkout, or from its dataset where `datasets` and a network are there."""

import difflib
import importlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from kernwright.core.errors import UserError
from kernwright.core.problem import Problem

from .file import problem_in
from .sources import read_text

DATASET = "huggingface"
"""Given in place of a path, it stands for the dataset."""
DATASET_NAME = "ScalingIntelligence/KernelBench"
LEVELS = (1, 2, 3)
"""Taken where no level is named. Level 4 needs `transformers` and pretrained weights."""
_NUMBERED = re.compile(r"(\d+)_.+")
_LEVEL = re.compile(r"level_?(\d+)")
_RANGE = re.compile(r"(\d+)-(\d+)")
_GENERATED = re.compile(r"level_?(\d+)_problem_?(\d+)(?:\D.*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One problem of a checkout, or of the dataset."""

    root: str
    """The path as it was given, or `DATASET`."""
    level: int
    number: int
    stem: str
    """Number and name: `19_ReLU`."""
    path: Path | None = None
    """None for the dataset's."""
    text: str = ""
    """The dataset's source; a file is read when it is loaded."""

    @property
    def key(self) -> str:
        """`level1/19_ReLU`: the same wherever the checkout lies."""
        return f"level{self.level}/{self.stem}"

    @property
    def id(self) -> str:
        """What `KernelBench.load` takes."""
        return f"{self.root}#{self.key}"


class KernelBench:
    """Levels 1 to 4; the id of a problem is `PATH#level1/19` or `PATH#level1/19_ReLU`.

    PATH is a checkout's root, its folder `KernelBench`, one of its level folders (then `PATH#19` is enough), each of
    which may begin with `~`, or `huggingface`. Whoever judges runs the modules in `eval()` mode.
    """

    name = "kernelbench"

    def __init__(self, path: str | None = None) -> None:
        self._path = path

    def ids(self) -> Iterable[str]:
        """Every problem under the path; nothing without one, since any may be given.

        Raises:
            UserError: the path is no checkout.
        """
        return () if self._path is None else [entry.id for entry in entries(self._path, levels(self._path))]

    def load(self, id: str) -> Problem:
        """The problem of this id; nothing of it is executed.

        Raises:
            UserError: the path is no checkout, there is no such problem in it, or its file does not hold one.
        """
        path, mark, which = id.rpartition("#")
        if not mark or not path or not which:
            raise UserError(
                f"{id!r} names no problem of KernelBench; write PATH#level1/19, PATH being a checkout or {DATASET!r}."
            )
        level, slash, name = which.rpartition("/")
        if slash:
            found = _LEVEL.fullmatch(level)
            if found is None:
                raise UserError(f"{id!r} has {level!r} where a level should stand; write PATH#level1/{name}.")
            chosen: tuple[int, ...] = (int(found[1]),)
        else:
            chosen = levels(path)
            if len(chosen) > 1:
                raise UserError(f"{id!r} does not say which level; write {path}#level{chosen[0]}/{name}.")
        return problem_of(_one(entries(path, chosen), name, f"Level {chosen[0]} of {path}"))


def problem_of(entry: Entry) -> Problem:
    """The problem of an entry; raises UserError where its file does not hold one."""
    path = entry.path or Path(f"{entry.key}.py")
    text = read_text(path, "problem file") if entry.path else entry.text
    # The level is part of the name, or two problems of one checkout could have the same.
    return replace(problem_in(path, text), name=f"level{entry.level}_{entry.stem}", origin=entry.id)


def levels(path: str) -> tuple[int, ...]:
    """The levels under a path, lowest first; raises UserError where it is no checkout."""
    return LEVELS if path == DATASET else tuple(sorted(_folders(path)))


def entries(path: str, chosen: Sequence[int]) -> tuple[Entry, ...]:
    """Every problem of these levels, by level and number.

    Raises:
        UserError: the path is no checkout, a level is not in it, or the dataset cannot be had.
    """
    if path == DATASET:
        return tuple(entry for level in chosen for entry in _dataset(level))
    folders = _folders(path)
    found = []
    for level in chosen:
        if level not in folders:
            there = ", ".join(map(str, sorted(folders)))
            raise UserError(f"{path} has no level {level}; its levels: {there}.")
        for file in _files(folders[level]):
            number = int(file.stem.partition("_")[0])
            found.append(Entry(root=path, level=level, number=number, stem=file.stem, path=file))
    return tuple(sorted(found, key=lambda entry: (entry.level, entry.number, entry.stem)))


def select(path: str, chosen: Sequence[int] | None, which: str | None) -> tuple[Entry, ...]:
    """The problems that `which` names in these levels: `1-20,33,19_ReLU,level2/7`; all of them where it is None.

    Without levels, those of `LEVELS` that are there, or the only one.

    Raises:
        UserError: the path is no checkout, or something named is not in it.
    """
    if chosen is None:
        there = levels(path)
        chosen = [level for level in there if level in LEVELS] or there
    listed = entries(path, chosen)
    if which is None:
        return listed
    taken: set[str] = set()
    for part in (part.strip() for part in which.split(",") if part.strip()):
        taken |= {entry.key for entry in _matching(listed, part, path)}
    if not taken:
        raise UserError(f"{which!r} names no problem; write numbers, ranges or names, such as 1-20,33,19_ReLU.")
    return tuple(entry for entry in listed if entry.key in taken)


def candidate_files(folder: Path, entry: Entry) -> tuple[Path, ...]:
    """Candidates for a problem: `level1/19*.py` in this folder, or `level_1_problem_19*.py` directly in it."""
    found = []
    for file in sorted(folder.glob(f"level{entry.level}/*.py")):
        number = re.match(r"\d+", file.stem)
        if number and int(number[0]) == entry.number:
            found.append(file)
    for file in sorted(folder.glob("level*problem*.py")):
        names = _GENERATED.fullmatch(file.stem)
        if names and (int(names[1]), int(names[2])) == (entry.level, entry.number):
            found.append(file)
    return tuple(found)


def _matching(listed: Sequence[Entry], part: str, path: str) -> list[Entry]:
    level, slash, name = part.rpartition("/")
    if slash:
        found = _LEVEL.fullmatch(level)
        listed = [entry for entry in listed if found and entry.level == int(found[1])]
    if limits := _RANGE.fullmatch(name):
        first, last = int(limits[1]), int(limits[2])
        matching = [entry for entry in listed if first <= entry.number <= last]
        if not matching:
            raise UserError(f"{path} has no problem from {first} to {last} in the chosen levels; correct {part!r}.")
        return matching
    if name.isdecimal() and (numbered := [entry for entry in listed if entry.number == int(name)]):
        return numbered
    if named := [entry for entry in listed if entry.stem == name]:
        return named
    raise _unknown(part, [entry.key if slash else entry.stem for entry in listed], f"The chosen part of {path}")


def _one(listed: Sequence[Entry], name: str, where: str) -> Entry:
    named = [e for e in listed if e.stem == name or (name.isdecimal() and e.number == int(name))]
    if not named:
        raise _unknown(name, [entry.stem for entry in listed], where)
    if len(named) > 1:
        stems = ", ".join(entry.stem for entry in named)
        raise UserError(f"{name} is the number of {len(named)} problems in {where}: {stems}; give one's name.")
    return named[0]


def _unknown(name: str, known: Sequence[str], where: str) -> UserError:
    near = difflib.get_close_matches(name, known, n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "give a number, or a name such as 19_ReLU."
    return UserError(f"{where} has no problem {name!r} among its {len(known)}; {hint}")


def _folders(path: str) -> dict[int, Path]:
    root = _expanded(path)
    if (own := _LEVEL.fullmatch(root.resolve().name)) and _files(root):
        return {int(own[1]): root}
    for folder in (root / "KernelBench", root):
        found = {
            int(level[1]): child
            for child in (folder.iterdir() if folder.is_dir() else ())
            if (level := _LEVEL.fullmatch(child.name)) and _files(child)
        }
        if found:
            return found
    raise UserError(
        f"{path} is not a KernelBench checkout: neither it nor a folder KernelBench in it has folders level1, level2, "
        "... with files such as 1_Name.py. Clone KernelBench and give the path of its root, of its folder KernelBench "
        f"or of one level; {DATASET!r} stands for its dataset."
    )


def _expanded(path: str) -> Path:
    """Behind `kernelbench:` a leading `~` stands inside a word, where no shell expands it."""
    try:
        return Path(path).expanduser()
    except RuntimeError:  # nobody's home is known by that name
        return Path(path)


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [file for file in folder.iterdir() if file.suffix == ".py" and _NUMBERED.fullmatch(file.stem)]


@cache
def _dataset(level: int) -> tuple[Entry, ...]:
    try:
        datasets = importlib.import_module("datasets")
    except ModuleNotFoundError as error:
        raise UserError(
            f"KernelBench's dataset needs the package {error.name!r}; install it with: pip install datasets, "
            "or give the path of a checkout."
        ) from None
    try:
        rows = datasets.load_dataset(DATASET_NAME, split=f"level_{level}")
        found = [
            Entry(
                root=DATASET,
                level=level,
                number=int(row["problem_id"]),
                stem=str(row["name"]).removesuffix(".py"),
                text=str(row["code"]),
            )
            for row in rows
        ]
    except Exception as error:  # whatever a network, a cache or a new layout of the dataset makes of it
        first = (str(error).strip().splitlines() or [""])[0][:200].rstrip(".")
        raise UserError(
            f"Level {level} of the dataset {DATASET_NAME} cannot be had ({type(error).__name__}: {first}); it needs a "
            "network. Give the path of a checkout instead."
        ) from error
    return tuple(sorted(found, key=lambda entry: entry.number))
