"""What a report asks of a problem where memory does not suffice for all of it."""

from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.problem import degeneracy  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.problem.shortage import NOTE  # noqa: E402

SOURCE = one_line("x, y", "torch.randn(8, 64), torch.randn(8, 64)", "x.sum(1, keepdim=True).expand(8, 64)")


def _names(setting: Setting) -> list[str]:
    return [finding.name for finding in degeneracy.findings(setting)]


@pytest.mark.parametrize("question", ["_constant", "_same_for_every_seed", "_infinite", "_unused_weights"])
def test_a_question_without_room_is_left_out_and_the_others_are_asked(
    prepared: Callable[[str], Setting], monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    setting = prepared(SOURCE)
    assert _names(setting) == ["flat_axis", "unused_input"]
    assert NOTE not in setting.reference.notes

    def without_room(*_: object) -> object:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(degeneracy, question, without_room)
    assert _names(setting) == ["flat_axis", "unused_input"]
    assert NOTE in setting.reference.notes
    setting.reference.has_all_memory = False
    with pytest.raises(torch.OutOfMemoryError):
        _names(setting)


@pytest.mark.parametrize(
    ("result", "hollow"),
    [
        ("x.sum(1, keepdim=True).expand(8, 64)", False),
        ("torch.softmax(x, 1).sum(1)", True),
        ("torch.fft.fft(x)", False),
        ("x.argmax(1)", False),
        ("x.sum()", False),  # of one number nothing can be said
        ("1e6 + x * 1e-3", True),
    ],
)
def test_a_verdict_says_of_a_hollow_output_that_it_is_one(
    prepared: Callable[[str], Setting], result: str, hollow: bool
) -> None:
    notes = degeneracy.hollow_notes([prepared(one_line("x", "torch.randn(8, 64)", result))])
    assert len(notes) == hollow
    assert all("a kernel that computes nothing passes" in note for note in notes)


def test_a_reference_without_a_right_digit_is_found(prepared: Callable[[str], Setting]) -> None:
    hashed = "torch.frac(torch.sin(x * 4e4) * 43758.5453).abs() - 0.5"
    assert "no_right_digit" in _names(prepared(one_line("x", "torch.rand(512)", hashed)))
