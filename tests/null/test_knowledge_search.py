"""Which notes are told for which situation, and how much of them."""

import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kernwright.core.diagnosis import Diagnosis
from kernwright.core.guidance import BYTES_PER_TOKEN
from kernwright.core.note import Note
from kernwright.core.outcome import BuildFailed, Wrong
from kernwright.core.problem import Problem, Rules, Workload
from kernwright.knowledge.failures import signature_of
from kernwright.knowledge.folders import read
from kernwright.knowledge.index import RECENT, Index
from kernwright.knowledge.library import Library
from kernwright.knowledge.passages import told
from kernwright.knowledge.problems import likeness, signs_of
from kernwright.knowledge.situations import Situation
from kernwright.knowledge.vocabulary import applies, canonical, scope, words

PACK = Path(__file__).parent / "pack"
LIBRARY = Library(read(PACK).notes)
H200 = "cuda:sm_90a"
CPU = "cpu:x86-64-v4"
SOFTMAX = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)
"""
LINEAR = """\
import torch
from torch import nn

batch, features = 16, 1024
hidden = 4096


class Model(nn.Module):
    \"\"\"A layer with its activation.\"\"\"

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1024, hidden)

    def forward(self, x):
        return torch.nn.functional.gelu(self.layer(x)).half()
"""


def problem(source: str = SOFTMAX, **params: int) -> Problem:
    return Problem(name="mine", source=source, workloads=(Workload(name="w", params=dict(params)),))


def names(situation: Situation, k: int = 3, library: Library = LIBRARY) -> list[str]:
    return [note.name for note in library.recall(situation.tags, situation.text, k)]


def test_operators_and_the_diagnosis_find_their_notes() -> None:
    rows = Situation(problem=problem(), target=CPU, languages=("cpp",), diagnosis=Diagnosis(bottlenecks=("dram",)))
    assert "guidance/row-reductions" in names(rows, 2)
    slow = replace(rows, diagnosis=Diagnosis(bottlenecks=("vectorisation", "compute")), language="cpp")
    assert names(slow)[0] == "languages/cpp-vector-math"
    linear = Situation(problem=problem(LINEAR), target=H200, languages=("triton",))
    assert names(linear)[0] == "guidance/matmul-epilogue"


def test_the_dominant_bottleneck_comes_first_whatever_else_speaks_louder() -> None:
    rows = Situation(problem=problem(), target=H200, languages=("triton",), language="triton")
    narrow = replace(rows, diagnosis=Diagnosis(bottlenecks=("uncoalesced", "latency")))
    assert names(narrow)[0] == "languages/triton-loads"
    assert "guidance/row-reductions" in names(narrow)
    full = replace(rows, diagnosis=Diagnosis(bottlenecks=("occupancy", "dram")))
    assert names(full)[0] == "platforms/hopper"


def test_what_is_for_other_devices_and_languages_is_not_told() -> None:
    everything = Diagnosis(bottlenecks=("vectorisation", "cache-misses", "uncoalesced", "occupancy"))
    on_gpu = Situation(problem=problem(), target=H200, languages=("triton", "cuda"), diagnosis=everything)
    assert not {"languages/cpp-vector-math", "platforms/x86-caches"} & set(names(on_gpu, 20))
    on_cpu = replace(on_gpu, target=CPU, languages=("cpp", "torch"))
    assert not {"languages/triton-loads", "platforms/hopper"} & set(names(on_cpu, 20))


def test_a_failure_says_what_kind_it_is() -> None:
    wrong = Situation(problem=problem(), target=CPU, languages=("cpp",), outcome=Wrong(reason="outputs: 3 is not 4"))
    assert wrong.bottlenecks == ("numerics",)
    assert names(wrong)[0] == "constraints/new-memory"
    broken = replace(wrong, outcome=BuildFailed(log="", reason="error: no such thing"))
    assert broken.tags[0] == "build-error"
    assert "no such thing" in broken.text
    known = replace(wrong, diagnosis=Diagnosis(bottlenecks=("l2",)))
    assert known.bottlenecks == ("l2",)


def test_words_alone_find_notes_and_nothing_is_no_words() -> None:
    assert [n.name for n in LIBRARY.recall((), "cumulative sum carry", 1)] == ["guidance/prefix-sums"]
    assert LIBRARY.recall((), "", 3) == []
    assert LIBRARY.recall((), 'AND OR NOT "quotes* NEAR( (', 3) is not None


def test_a_query_gives_the_same_notes_whatever_the_order_of_the_packs() -> None:
    notes = list(read(PACK).notes)
    random.Random(1).shuffle(notes)
    situation = Situation(problem=problem(LINEAR), target=H200, languages=("triton",))
    assert names(situation, 8) == names(situation, 8, Library(notes))


def test_a_later_pack_stands_in_place_of_an_earlier_one() -> None:
    old = next(note for note in LIBRARY.notes if note.name == "guidance/row-reductions")
    library = Library([*LIBRARY.notes, replace(old, title="Mine", pack="mine")])
    note = library.read("guidance/row-reductions.md")
    assert note is not None
    assert note.title == "Mine"
    assert len(library.notes) == len(LIBRARY.notes)


@pytest.mark.parametrize("tokens", [0, 100, 300, 700, 3000])
def test_passages_keep_to_their_budget(tokens: int) -> None:
    situation = Situation(problem=problem(), target=CPU, languages=("cpp",))
    passages, further = told(LIBRARY, situation, tokens)
    assert sum(passage.size for passage in passages) <= tokens * BYTES_PER_TOKEN
    assert not {passage.name for passage in passages} & {title.name for title in further}
    assert bool(passages) == (tokens > 0)
    if tokens == 100:
        assert passages[0].text.endswith("[...]")
    if tokens == 3000:
        assert {"guidance/row-reductions", "languages/cpp-vector-math"} <= {passage.name for passage in passages}
        assert "2026-11-21" in passages[0].origin


def test_what_a_given_pack_demands_of_its_target_comes_first_and_takes_half_at_most() -> None:
    def note(name: str, applies_to: str, lines: int = 4) -> Note:
        text = "\n".join(["Loads are of 24 bytes."] * lines)
        return Note(name=name, title=name, text=text, tags=("memory", "loads"), applies_to=(applies_to,), pack="toy")

    library = Library(
        [
            *LIBRARY.notes,
            note("constraints/loads", "toy"),
            note("constraints/long", "toy", 100),
            note("constraints/other", "elsewhere"),
            note("guidance/loads", "toy"),
        ]
    )
    situation = Situation(problem=problem(), target="toy:1", languages=("cpp",))
    passages, further = told(library, situation, 1200, first=("toy",))
    assert passages[0].name == "constraints/loads"
    assert "constraints/long" not in [passage.name for passage in passages]
    assert "constraints/long" in [title.name for title in further]
    assert len(passages) > 1
    everything = [*[p.name for p in passages], *[t.name for t in further]]
    assert "constraints/other" not in everything
    plain, _ = told(library, replace(situation, problem=problem(LINEAR)), 1200)
    assert plain[0].name != "constraints/loads"


def test_signs_of_a_problem_are_read_without_running_it() -> None:
    signs = signs_of(problem(LINEAR, rows=64))
    assert signs.operators == ("Linear", "gelu")
    assert set(signs.families) == {"matmul", "elementwise"}
    assert signs.families[0] == "matmul"
    assert signs.dtypes == ("float16",)
    assert signs.sizes == {"batch": 16.0, "features": 1024.0, "hidden": 4096.0, "rows": 64.0}
    assert "epilogue" in Situation(problem=problem(LINEAR), target=H200).tags
    assert signs_of(problem("this is no Python (")).families == ()
    named = signs_of(replace(problem(), name="rmsnorm_gate"))
    assert "norm" in named.families
    assert "rmsnorm" in named.names


def test_convolutions_that_are_not_dense_are_seen() -> None:
    def names(call: str) -> tuple[str, ...]:
        source = f"class Model(nn.Module):\n    def __init__(self):\n        self.c = {call}\n"
        return signs_of(problem(source)).names

    assert "depthwise" in names("nn.Conv2d(8, 8, 3, groups=8)")
    assert "depthwise" not in names("nn.Conv2d(8, 8, 3, groups=1)")
    assert "pointwise" in names("nn.Conv2d(8, 16, 1)")
    assert "pointwise" in names("nn.Conv2d(8, 16, kernel_size=1)")
    assert {"convtranspose3d", "transposed"} <= set(names("nn.ConvTranspose3d(8, 8, 3)"))
    assert {"conv1d", "convolution", "dilation"} <= set(names("nn.Conv1d(8, 8, 3, dilation=2)"))


def test_problems_are_alike_by_operators_dtype_and_size() -> None:
    small, large = problem(rows=128), problem(rows=4096)
    assert likeness(signs_of(small), signs_of(small)) == 1.0
    assert 0.1 < likeness(signs_of(small), signs_of(large)) < 0.5
    assert likeness(signs_of(small), signs_of(problem(rows=256))) > likeness(signs_of(small), signs_of(large))
    assert likeness(signs_of(small), signs_of(problem(LINEAR, rows=128))) == 0.0
    half = replace(small, rules=Rules(precision="float16"))
    assert likeness(signs_of(small), signs_of(half)) == 0.0


def test_equal_errors_have_one_signature() -> None:
    def signature(reason: str, log: str = "") -> str:
        return signature_of(BuildFailed(log=log, reason=reason))

    eps = "artifacts/877612c3283de5ed94b322e874b274f8.cpp:16:65: error: 'eps' was not declared in this scope"
    mean = "/tmp/x/artifacts/0123456789abcdef0123456789abcdef.cpp:3:1: error: 'mean' was not declared in this scope"
    assert signature(eps) == signature(mean) != ""
    assert signature(eps) != signature(eps.replace("was not declared", "has no member"))
    assert signature("the build failed", "a\nerror: x") != signature("the build failed", "a\nerror: y")
    wrong = "outputs: workload 'a', inputs generator, seed 5: output 0 at [1]: expected 3, got 4; error 9 x the allowed"
    other = wrong.replace("'a', inputs generator, seed 5", "'b', inputs scaled by 2.1, signs mixed, seed 77")
    assert signature_of(Wrong(reason=wrong)) == signature_of(Wrong(reason=other))
    assert signature_of(Wrong(reason=wrong)) != signature_of(Wrong(reason=wrong.replace("error 9 x", "error 1e+05 x")))
    assert signature_of(Wrong(reason=wrong)) != signature_of(Wrong(reason=wrong.replace("got 4", "got nan")))


def note(name: str, text: str, *tags: str, bottlenecks: tuple[str, ...] = ()) -> Note:
    return Note(name=name, title=name, text=text, tags=tags, bottlenecks=bottlenecks)


def test_a_note_is_found_by_the_situations_that_call_for_it() -> None:
    said = "warps wait at barriers 41 % of the time"
    plain = [note(f"lanes-{n}", "Exchange by lanes.", "lanes", "exchange") for n in range(4)]
    library = Library([*plain[:3], replace(plain[3], when=("warps wait at barriers", "the kernel does not end"))])
    assert [each.name for each in library.recall(("sync",), said, 1)] == ["lanes-3"]
    assert library.recall((), "barriers of warps", 4)[0].name == "lanes-3"
    assert len(library.recall((), "exchange by lanes", 4)) == 4


def test_notes_about_other_operators_stand_back() -> None:
    product = note("product", "tiles of a product spill", "matmul", "tiling", bottlenecks=("spills",))
    anything = note("registers", "fewer live values", "registers", "unrolling", bottlenecks=("spills",))
    library = Library([product, anything, note("rows", "softmax", "softmax", "reduction")])
    found = [each.name for each in library.recall(("spills", "softmax", "reduction", "row"), "", 3)]
    assert found.index("registers") < found.index("product")
    assert [each.name for each in library.recall((), "tiles of a product", 1)] == ["product"]


def test_a_number_that_is_a_little_off_asks_for_other_notes_than_one_that_is_none() -> None:
    near = note("tolerance", "The error budget: rounding of a long accumulation", "error", "tolerance")
    none = note("poison", "Uninitialised memory is poisoned and shows as NaN", "memory", "correctness")
    library = Library([replace(each, bottlenecks=("numerics",)) for each in (near, none)])
    wrong = "outputs: workload 'a', inputs generator, seed 5: output 0 at [1]: expected 3, got 4; error 9 x the allowed"

    def first(reason: str) -> str:
        return names(Situation(problem=problem(), target=CPU, outcome=Wrong(reason=reason)), 1, library)[0]

    assert first(wrong) == "tolerance"
    assert first(wrong.replace("got 4; error 9 x", "got nan; error inf x")) == "poison"


def test_words_that_mean_the_same_are_one() -> None:
    assert canonical("normalisation") == canonical("Norms") == "norm"
    assert canonical("LayerNorm") == canonical("layer_norm") == canonical("layer-norms") == "layernorm"
    assert canonical("gemm") == canonical("matrix-multiplication") == "matmul"
    assert canonical("reductions") == "reduction"
    assert canonical("bank-conflicts") == canonical("bank_conflict")
    assert list(words("LayerNorm scaled_dot conv2d sm_90a"))[:3] == ["layernorm", "layer", "norm"]
    assert {"conv2d", "conv", "90a"} <= set(words("conv2d sm_90a"))


def test_a_target_is_meant_by_its_beginning_but_not_by_half_a_number() -> None:
    assert applies(("cuda:sm_90",), scope(H200))
    assert applies(("cpu:x86-64",), scope(CPU))
    assert not applies(("rocm:gfx94",), scope("rocm:gfx942"))
    assert applies(("hip",), scope("rocm:gfx942"))
    assert not applies(("cuda:sm_100a",), scope(H200))


def test_what_was_asked_lately_is_remembered_until_something_is_learnt() -> None:
    library = Library(read(PACK).notes)
    seen = Situation(problem=problem(), target=CPU, languages=("cpp",), language="cpp", said="one pass")
    first = library.scored(seen.tags, seen.text, 9)
    asked: list[str] = []
    assert library._index is not None
    library._index._connection.set_trace_callback(asked.append)
    assert library.scored(seen.tags, seen.text, 9) == first
    assert asked == []
    assert library.scored(seen.tags, f"{seen.text} atomics", 9)
    assert asked
    library.learn(note("guidance/new", "One pass over each row.", "softmax"))
    assert "guidance/new" in [found.name for _, found in library.scored(seen.tags, seen.text, 99)]


def test_of_many_questions_the_latest_are_remembered() -> None:
    index = Index(read(PACK).notes)
    answers = [index.ranked(("softmax",), f"rows {n}", 3) for n in range(3 * RECENT)]
    assert len(index._answered) == len(index._rows) == RECENT
    assert [index.ranked(("softmax",), f"rows {n}", 3) for n in range(3 * RECENT)] == answers


def test_an_index_that_was_kept_finds_what_a_new_one_does() -> None:
    rows = Situation(problem=problem(), target=CPU, languages=("cpp",), diagnosis=Diagnosis(bottlenecks=("dram",)))
    kept = Library(LIBRARY.notes, image=LIBRARY.image())
    assert kept.scored(rows.tags, rows.text, 20) == LIBRARY.scored(rows.tags, rows.text, 20)


def _of_another_sqlite() -> bytes:
    """One whose texts this SQLite cannot read."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(LIBRARY.image())
        connection.execute("UPDATE notes_config SET v = 99 WHERE k = 'version'")
        connection.commit()
        return connection.serialize()


@pytest.mark.parametrize(
    "image",
    [
        b"no index",
        b"SQLite format 3\x00" + bytes(4096),
        Library(LIBRARY.notes[1:]).image(),
        Library(LIBRARY.notes[::-1]).image(),
        _of_another_sqlite(),
    ],
)
def test_an_index_of_something_else_is_made_anew(image: bytes) -> None:
    rows = Situation(problem=problem(), target=CPU, languages=("cpp",), diagnosis=Diagnosis(bottlenecks=("dram",)))
    assert Library(LIBRARY.notes, image=image).scored(rows.tags, rows.text, 20) == LIBRARY.scored(
        rows.tags, rows.text, 20
    )


def test_what_is_learnt_later_is_found_although_an_index_was_kept() -> None:
    library = Library(LIBRARY.notes, image=LIBRARY.image())
    library.learn(replace(LIBRARY.notes[0], name="guidance/zygomorph", title="Zygomorph", supersedes=()))
    assert [note.name for note in library.recall((), "zygomorph", 1)] == ["guidance/zygomorph"]


def test_guidance_and_samples_of_a_sister_language_come_and_its_errors_do_not() -> None:
    of = {
        name: Note(name=f"{name}/made", title="softmax rows", text="softmax", applies_to=("cuda",), tags=("softmax",))
        for name in ("guidance", "samples", "languages")
    }
    rows = Situation(problem=problem(), target="rocm:gfx1100", languages=("opencl",))
    own = Note(name="languages/opencl", title="OpenCL", text="opencl", applies_to=("opencl",))
    found = names(rows, 9, Library([*of.values(), own]))
    assert {"guidance/made", "samples/made"} <= set(found)
    assert "languages/made" not in found


def test_a_device_that_no_note_is_about_is_told_of_others_of_its_platform() -> None:
    near = Note(name="platforms/cdna3", title="softmax on CDNA3", text="softmax", applies_to=("rocm:gfx942",))
    far = replace(near, name="platforms/hopper", applies_to=("cuda:sm_90a",))
    asked = Situation(problem=problem(), target="rocm:gfx90a", languages=("triton",))
    assert names(asked, 9, Library([near, far])) == ["platforms/cdna3"]
    exact = replace(near, name="platforms/cdna2", applies_to=("rocm:gfx90a",))
    assert names(asked, 9, Library([near, far, exact])) == ["platforms/cdna2"]


def test_an_arm_processor_is_known_by_its_instruction_set() -> None:
    assert applies(("cpu:aarch64",), scope("cpu:armv9-a"))
    assert not applies(("cpu:aarch64",), scope(CPU))


def test_a_kernel_in_a_language_that_its_successor_cannot_be_in_is_to_be_ported() -> None:
    port = Situation(problem=problem(), target=CPU, languages=("cpp",), language="triton")
    assert "porting" in port.tags
    assert "porting" not in replace(port, language="cpp").tags
