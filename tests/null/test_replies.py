"""What a model wrote: whole files, edits, and what is neither."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.search.operators.replies import NoCandidate, applied, written

KERNEL = "import torch\n\n\ndef kernel(x):\n    return x\n"
BASE = Candidate(
    language="cpp",
    files=(
        SourceFile(name="kernel.py", text="A = 1\n\n\ndef kernel(x):\n    y = x + 1\n    return y\n"),
        SourceFile(name="kernel.cpp", text="void f() {\n  int a = 1;\n  int b = 1;\n}\n"),
    ),
)


def block(text: str, info: str = "python", fence: str = "```") -> str:
    return f"{fence}{info}\n{text}{fence}\n"


def edit(search: str, change: str, info: str = "edit file=kernel.py") -> str:
    return block(f"<<<<<<< SEARCH\n{search}=======\n{change}>>>>>>> REPLACE\n", info)


@pytest.mark.parametrize(
    "text",
    [
        block(KERNEL),
        block(KERNEL, "python file=kernel.py"),
        block(KERNEL, "py"),
        block(KERNEL, ""),
        block(KERNEL, "python", "~~~~"),
        block(KERNEL, "kernel.py"),
        KERNEL,
        f"Some words.\n\n{block('def helper(): pass' + chr(10))}\nThen:\n{block(KERNEL)}",
        f"First a draft:\n{block(KERNEL.replace('return x', 'return None'))}\nBetter:\n{block(KERNEL)}\nDone.",
        f"{block('g++ -O3' + chr(10), 'sh')}{block(KERNEL)}",
    ],
)
def test_a_whole_file_is_found(text: str) -> None:
    (file,) = written(text, None).files
    assert (file.name, file.text) == ("kernel.py", KERNEL)


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import numba\nexcept ImportError:\n    numba = None\n\n    def kernel(x):\n        return x\n",
        "def make():\n    return lambda x: x\n\n\nkernel = make()\n",
        "kernel: object = abs\n",
        "kernel, table = make()\n",
    ],
)
def test_an_entry_may_stand_in_a_branch_or_be_assigned(text: str) -> None:
    for reply in (text, f"First:\n{block('def helper(): pass' + chr(10))}\nThen:\n{block(text)}"):
        assert written(reply, None).files[0].text == text


@pytest.mark.parametrize("use", ["kernel = KERNEL()\n", "from kernel import kernel\n"])
def test_a_block_that_shows_how_a_kernel_is_called_is_not_the_kernel(use: str) -> None:
    assert written(f"{block(KERNEL)}Use it:\n{block(use)}", None).files[0].text == KERNEL


def test_files_beside_the_main_one_are_kept_by_name() -> None:
    text = block("int f();\n", "cpp file=kernel.cpp") + block(KERNEL, "python file=kernel.py")
    assert [(f.name, f.text) for f in written(text, None).files] == [
        ("kernel.py", KERNEL),
        ("kernel.cpp", "int f();\n"),
    ]


def test_what_the_writer_says_of_it_is_kept() -> None:
    text = f"NAME: fused\n**APPROACH:** one pass\nINSIGHT: a\n- INSIGHT: b\nINSIGHT: c\nINSIGHT: d\n{block(KERNEL)}"
    made = written(text, None)
    assert (made.name, made.approach, made.insights) == ("fused", "one pass", ("a", "b", "c"))


def test_labels_inside_source_are_source() -> None:
    assert written(block(f"# NAME: not this\n{KERNEL}"), None).name == ""


def test_a_main_file_that_does_not_parse_is_the_judges_affair() -> None:
    (file,) = written(block("def kernel(x:\n", "python file=kernel.py"), None).files
    assert file.text == "def kernel(x:\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "holds no block of source"),
        ("I cannot do that.", "holds no block of source"),
        (block("print(1)\n", "sh"), "no block of the reply defines"),
        (f"```python\n{KERNEL}", "its last block is not closed"),
        (block(KERNEL, "python file=../kernel.py"), "lies in a folder"),
        (block(KERNEL, "python file=/etc/kernel.py"), "lies in a folder"),
        (block(KERNEL + "#" * (1 << 20) + "\n"), "longer than 1 MiB"),
        (edit("A = 1\n", "A = 2\n"), "no solution was shown to edit"),
        (block("def helper(x):\n    return x\n"), "kernel.py defines neither class ModelNew nor def kernel"),
        (block("x = 1\n", "python file=kernel.py"), "kernel.py defines neither class ModelNew nor def kernel"),
        (
            block(KERNEL, "python file=kernel.py") + block(f"A = 1\n{KERNEL}", "python file=kernel.py"),
            "two blocks of the reply are 'kernel.py' and differ",
        ),
        (
            block(KERNEL) + block("int f();\n", "cpp file=k.cpp") + block("int g();\n", "cpp file=k.cpp"),
            "two blocks of the reply are 'k.cpp' and differ",
        ),
        (
            block(KERNEL, "python file=kernel.py") + block("A = 1\n", "python file=helper.py"),
            "holds 'helper.py' beside kernel.py; all Python belongs in kernel.py",
        ),
    ],
)
def test_what_holds_no_candidate_says_why(text: str, reason: str) -> None:
    with pytest.raises(NoCandidate, match=reason):
        written(text, None)


def test_a_reply_that_was_cut_off_says_so() -> None:
    with pytest.raises(NoCandidate, match="cut off at the limit of tokens"):
        written(f"```python\n{KERNEL}", None, truncated=True)


def test_a_reply_that_was_cut_off_between_blocks_says_so_too() -> None:
    with pytest.raises(NoCandidate, match="was cut off at the limit of tokens"):
        written(f"{block(KERNEL, 'python file=kernel.py')}The other file", None, truncated=True)


def test_a_block_that_is_repeated_is_one_file() -> None:
    (file,) = written(block(KERNEL, "python file=kernel.py") * 2, None).files
    assert file.text == KERNEL


def test_an_entry_that_is_no_def_is_one_all_the_same() -> None:
    text = "def f(x):\n    return x\n\n\nkernel = f\n"
    assert written(block(text), None).files[0].text == text


def test_a_whole_file_may_stand_beside_edits() -> None:
    text = edit("A = 1\n", "A = 2\n") + block("int g();\n", "cpp file=other.cpp")
    assert [file.name for file in written(text, BASE).files] == ["kernel.py", "kernel.cpp", "other.cpp"]
    whole = edit("A = 1\n", "A = 2\n") + block("int g();\n", "cpp file=kernel.cpp")
    assert written(whole, BASE).files[1].text == "int g();\n"


def test_edits_make_the_base_anew() -> None:
    text = edit("A = 1\n", "A = 2\n") + edit("  int a = 1;\n", "  int a = 7;\n", "edit file=kernel.cpp")
    main, beside = written(text, BASE).files
    assert main.text == BASE.main.text.replace("A = 1", "A = 2")
    assert beside.text == "void f() {\n  int a = 7;\n  int b = 1;\n}\n"


def test_several_edits_in_one_block_follow_one_another() -> None:
    one = "<<<<<<< SEARCH\nA = {}\n=======\nA = {}\n>>>>>>> REPLACE\n"
    text = block(one.format(1, 2) + one.format(2, 3), "edit file=kernel.py")
    assert written(text, BASE).files[0].text.startswith("A = 3\n")


def test_an_edit_may_delete() -> None:
    assert "A = 1" not in written(edit("A = 1\n", ""), BASE).files[0].text


@pytest.mark.parametrize(
    ("search", "result"),
    [
        ("    y = x + 1   \n", "    y = 0\n"),  # spaces at the end
        ("    y  = x + 1 \n    return y\n", "    y = 0\n"),  # spaces inside
    ],
)
def test_spaces_do_not_keep_an_edit_from_its_place(search: str, result: str) -> None:
    made = written(edit(search, result), BASE).files[0].text
    assert made.startswith("A = 1\n\n\ndef kernel(x):\n    y = 0\n")


def test_a_likely_place_is_found_in_a_long_text() -> None:
    lines = [f"value_{i} = compute_something({i}, {i * 7}, mode='fast')\n" for i in range(300)]
    search = "value_150 = compute_something(150, 1050, mode = 'fast')\n"
    made = applied("".join(lines), "value_149 = compute_something(149, 1043, mode='fast')\n" + search, "# gone\n")
    assert made == "".join([*lines[:149], "# gone\n", *lines[151:]])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (edit("B = 1\nC = 2\n", "x\n"), "fits nowhere"),
        (edit("A = 1\n", "A = 1\n"), "change nothing"),
        (edit("", "A = 2\n"), "searches for nothing"),
        (edit("A = 1\n", "A = 2\n", "edit file=other.py"), "'other.py', which the solution does not have"),
        (edit("  int c = 1;\n", "", "edit file=kernel.cpp"), "is like two places"),
        (edit("def kernel(x):\n", "def other(x):\n"), "kernel.py defines neither class ModelNew nor def kernel"),
        (edit("A = 1\n", "A = 2\n") + block(KERNEL, "python file=kernel.py"), "is given whole and edited too"),
        (edit("A = 1\n", "A = 2\n") + block("B = 1\n", "python file=helper.py"), "all Python belongs in kernel.py"),
    ],
)
def test_an_edit_without_its_one_place_is_unusable(text: str, reason: str) -> None:
    with pytest.raises(NoCandidate, match=reason):
        written(text, BASE)


def test_a_place_that_occurs_twice_is_ambiguous() -> None:
    with pytest.raises(NoCandidate, match="'a = 1' and what follows occurs 2 times"):
        applied("a = 1\nb\na = 1\n", "a = 1\n", "c\n")
    with pytest.raises(NoCandidate, match="'a=1' occurs 2 times"):
        applied("a = 1\nb\na = 1\n", "a=1\n", "c\n")


def test_an_edit_finds_the_place_that_is_most_like_it() -> None:
    text = "int first = load(x, 4);\nfor (int i = 0; i < n; ++i) total += x[i] * weight[i];\nreturn total;\n"
    search = "for (int i = 0; i < n; i++) total += x[i] * weight[i];\n"
    assert applied(text, search, "// gone\n") == "int first = load(x, 4);\n// gone\nreturn total;\n"


@given(st.text(max_size=400))
def test_any_text_is_a_candidate_or_a_reason(text: str) -> None:
    with contextlib.suppress(NoCandidate):
        assert written(text, BASE).files


@given(st.lists(st.text(alphabet="ab =\n`<>", min_size=1, max_size=30), max_size=8), st.text(max_size=20))
def test_an_exact_and_single_place_is_replaced_whatever_is_around(lines: list[str], change: str) -> None:
    before, after = "".join(f"{line}\n" for line in lines), "".join(reversed(lines))
    assert applied(f"{before}the one place\n{after}", "the one place\n", change) == before + change + after


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (block("<<<<<<< SEARCH\n=======\n" * 4000, "edit"), "an edit has no end"),
        (block("x\n", "a." * 20_000), "no block of the reply defines"),
        ("NAME: a" + "*_ " * 20_000, "no block of source"),
        (edit("".join(f"    a{i} = b{i} + d{i}\n" for i in range(200)), "    pass\n"), "fits nowhere"),
        (edit("    a = b + d\n" * 50, "    pass\n"), "fits nowhere"),
    ],
)
def test_a_model_that_repeats_itself_holds_nothing_up(text: str, reason: str) -> None:
    long = "".join(f"    a{i} = b{i} + c{i}\n" for i in range(3000)) + "    a = b + c\n" * 3000
    base = Candidate(language="cpp", files=(SourceFile(name="kernel.py", text=f"def kernel(x):\n{long}"),))
    with pytest.raises(NoCandidate, match=reason):
        written(text, base)


def test_an_edit_that_is_not_closed_makes_the_reply_unusable() -> None:
    """The edit before it would make half of what was meant."""
    whole = "<<<<<<< SEARCH\n    y = x + 1\n=======\n    y = x + 2\n>>>>>>> REPLACE\n"
    half = "<<<<<<< SEARCH\n    return y\n=======\n"
    with pytest.raises(NoCandidate, match="an edit has no end"):
        written(block(whole + half, "edit file=kernel.py"), BASE)


def test_a_place_begins_with_a_line_not_inside_a_word() -> None:
    assert applied("max = 1\nlow = 2\n", "low = 2\n", "low = 3\n") == "max = 1\nlow = 3\n"
    with pytest.raises(NoCandidate, match="fits nowhere"):
        applied("maximum_of_all = 1\nlow = 2\n", "all = 1\n", "all = 3\n")


def test_a_long_edit_with_a_slip_in_one_line_finds_its_place() -> None:
    lines = [f"    value_{i} = first_{i} + second_{i}\n" for i in range(40)]
    slip = "".join(lines[10:20]).replace("second_15", "second15")
    changed = applied("".join(lines), slip, "    pass\n")
    assert changed == "".join([*lines[:10], "    pass\n", *lines[20:]])


def test_only_line_feeds_end_lines() -> None:
    source = "def kernel(x):\n    s = 'a\u2028b\x0cc'\n    return x\n"
    assert written(block(source), None).files[0].text == source
    assert written(block(source).replace("\n", "\r\n"), None).files[0].text == source


def test_the_main_file_is_pythons_whatever_it_is_called() -> None:
    files = written(block(KERNEL, "python file=kernel.cu"), None).files
    assert [(file.name, file.text) for file in files] == [("kernel.py", KERNEL)]
