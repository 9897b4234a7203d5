"""Problems in KernelBench's layout: found by path, level, number and name, and read without being run."""

import subprocess
import sys
from pathlib import Path

import pytest

from kernwright.core.errors import UserError
from kernwright.core.problem import Problem
from kernwright.core.registry import reference
from kernwright.core.resolve import resolve
from kernwright.engine.intake import problem_of
from kernwright.problems import TABLE
from kernwright.problems.kernelbench import KernelBench, candidate_files, entries, levels, select

TEXT = """
raise SystemExit("this file must not be executed to be read")
class Model: pass
def get_inputs(): return []
def get_init_inputs(): return []
"""
FILES = {1: ("1_Add", "2_Scale", "10_Sum", "19_ReLU"), 2: ("1_Add_Then_Scale", "7_Norm"), 4: ("1_pretrained",)}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    for level, stems in FILES.items():
        folder = root / "KernelBench" / f"level{level}"
        folder.mkdir(parents=True)
        for stem in stems:
            (folder / f"{stem}.py").write_text(TEXT + f"# {level} {stem}\n")
        (folder / "notes.py").write_text("x = 1\n")
        (folder / "3_notes.txt").write_text("")
    return root


def test_the_same_problem_by_root_folder_and_level(checkout: Path) -> None:
    folder = checkout / "KernelBench"
    ids = [
        f"{checkout}#level1/19",
        f"{checkout}#level1/19_ReLU",
        f"{folder}#level1/19",
        f"{folder / 'level1'}#19",
        f"{folder / 'level1'}#level1/19_ReLU",
    ]
    source = resolve(reference("problems", TABLE, "kernelbench"))()
    problems: list[Problem] = [source.load(id) for id in ids]
    assert len({problem.id for problem in problems}) == 1
    assert problems[0].name == "level1_19_ReLU"
    assert problems[0].source == TEXT + "# 1 19_ReLU\n"
    assert problems[0].origin == f"{checkout}#level1/19_ReLU"
    assert problem_of(f"kernelbench:{checkout}#level1/19", {"precision": "tf32"}).rules.precision == "tf32"


def test_a_path_may_begin_with_a_home_folder(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No shell expands a `~` that stands inside a word, as it does behind `kernelbench:`."""
    monkeypatch.setenv("HOME", str(tmp_path))
    typed = problem_of("kernelbench:~/checkout#level1/19")
    assert typed.id == problem_of(f"kernelbench:{checkout}#level1/19").id
    assert problem_of("kernelbench:~/checkout/KernelBench/level1#19").id == typed.id
    assert [entry.key for entry in select("~/checkout", None, "19")] == ["level1/19_ReLU"]
    with pytest.raises(UserError, match="~nobody-of-this-name/checkout is not a KernelBench checkout"):
        problem_of("kernelbench:~nobody-of-this-name/checkout#level1/19")


def test_ids_are_in_order_and_can_be_loaded(checkout: Path) -> None:
    source = KernelBench(str(checkout))
    ids = list(source.ids())
    assert [id.partition("#")[2] for id in ids] == [
        f"level{level}/{stem}" for level, stems in FILES.items() for stem in stems
    ]
    assert len({source.load(id).id for id in ids}) == len(ids)
    assert list(KernelBench().ids()) == []


@pytest.mark.parametrize(
    ("chosen", "which", "keys"),
    [
        (None, None, "level1/1_Add level1/2_Scale level1/10_Sum level1/19_ReLU level2/1_Add_Then_Scale level2/7_Norm"),
        ((2,), None, "level2/1_Add_Then_Scale level2/7_Norm"),
        ((1, 2), "1-2,19", "level1/1_Add level1/2_Scale level1/19_ReLU level2/1_Add_Then_Scale"),
        ((1, 2), "level2/1, 10_Sum", "level1/10_Sum level2/1_Add_Then_Scale"),
        ((1, 2), "7-100", "level1/10_Sum level1/19_ReLU level2/7_Norm"),
        ((4,), "1", "level4/1_pretrained"),
    ],
)
def test_problems_are_chosen_by_level_number_range_and_name(
    checkout: Path, chosen: tuple[int, ...] | None, which: str | None, keys: str
) -> None:
    assert [entry.key for entry in select(str(checkout), chosen, which)] == keys.split()


def test_a_level_folder_stands_for_its_level(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = checkout / "KernelBench" / "level4"
    assert [entry.key for entry in select(str(folder), None, None)] == ["level4/1_pretrained"]
    monkeypatch.chdir(folder)
    assert levels(".") == (4,)


@pytest.mark.parametrize(
    ("id", "said"),
    [
        ("#level1/3", "Level 1 of {} has no problem '3' among its 4"),
        ("#level1/19_Relu", "did you mean '19_ReLU'"),
        ("#level3/1", "no level 3; its levels: 1, 2, 4"),
        ("#19", "does not say which level"),
        ("#lvl1/19", "'lvl1' where a level should stand"),
        ("", "write PATH#level1/19"),
        ("#", "write PATH#level1/19"),
        ("/KernelBench/level1/19_ReLU.py#level1/19", "is not a KernelBench checkout"),
        ("/nowhere#level1/19", "is not a KernelBench checkout"),
    ],
)
def test_a_mistake_is_one_sentence(checkout: Path, id: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        KernelBench().load(f"{checkout}{id}")
    assert said.format(checkout) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("which", "said"),
    [("3", "'3'"), ("30-40", "from 30 to 40"), ("level2/19", "'level2/19'"), (",", "names no problem"), ("x", "'x'")],
)
def test_a_choice_of_nothing_is_refused(checkout: Path, which: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        select(str(checkout), None, which)


def test_two_problems_of_one_number_need_a_name(checkout: Path) -> None:
    (checkout / "KernelBench" / "level1" / "19_Other.py").write_text(TEXT)
    with pytest.raises(UserError, match="19_Other, 19_ReLU"):
        KernelBench().load(f"{checkout}#level1/19")
    assert KernelBench().load(f"{checkout}#level1/19_Other").name == "level1_19_Other"


def test_a_broken_file_is_named(checkout: Path) -> None:
    (checkout / "KernelBench" / "level1" / "2_Scale.py").write_text("def get_inputs(:\n")
    with pytest.raises(UserError, match=r"2_Scale\.py is not Python: line 1"):
        problem_of(f"kernelbench:{checkout}#level1/2")


def test_an_unknown_source_is_refused_and_a_file_of_that_name_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match="Did you mean 'kernelbench'"):
        problem_of("kernelbnech:here#level1/1")
    monkeypatch.chdir(tmp_path)
    Path("odd:name.py").write_text(TEXT)
    assert problem_of("odd:name.py").name == "odd:name"


def test_candidates_are_found_in_either_layout(checkout: Path, tmp_path: Path) -> None:
    folder = tmp_path / "candidates"
    names = ("level1/19_mine.py", "level1/19.py", "level1/190_no.py", "level1/1_no.py", "level2/19_no.py")
    flat = ("level_1_problem_19_sample_0_kernel.py", "level1_problem19.py", "level_1_problem_190_kernel.py")
    for name in (*names, *flat):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    entry = next(e for e in entries(str(checkout), (1,)) if e.number == 19)
    found = [str(path.relative_to(folder)) for path in candidate_files(folder, entry)]
    assert found == [
        "level1/19.py",
        "level1/19_mine.py",
        "level1_problem19.py",
        "level_1_problem_19_sample_0_kernel.py",
    ]


def test_without_its_package_the_dataset_is_refused() -> None:
    code = (
        "import sys; sys.modules['datasets'] = None\n"
        "from kernwright.core.errors import UserError\n"
        "from kernwright.problems.kernelbench import KernelBench\n"
        "try: KernelBench().load('huggingface#level1/19')\n"
        "except UserError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install datasets" in done.stdout
    assert done.stdout.count("\n") == 1
