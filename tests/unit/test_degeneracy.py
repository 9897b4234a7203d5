"""What a report asks of a problem where memory does not suffice for all of it."""

from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation import degeneracy  # noqa: E402
from kernwright.evaluation.setting import Setting  # noqa: E402
from kernwright.evaluation.shortage import NOTE  # noqa: E402

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
