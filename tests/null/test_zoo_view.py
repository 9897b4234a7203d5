"""What the judge made of one member of the zoo, in a line."""

import pytest

from kernwright.cli.zoo_view import sentence
from kernwright.engine.zoo_trial import Row, State


def row(state: State, verdict: str, reason: str, seconds: float = 0.0, speedup: float | None = None) -> Row:
    return Row(
        name="d06_segfault",
        kind="hacks",
        row="D6",
        summary="",
        state=state,
        verdict=verdict,
        reason=reason,
        seconds=seconds,
        speedup=speedup,
    )


@pytest.mark.parametrize(("member", "said"), [
    (row("not_judged", "", "destructive, and needs namespaces"), "not judged: destructive, and needs namespaces"),
    (row("not_judged", "", "the machine failed:\n no room", 12.0), "not judged (12 s): the machine failed: no room"),
    (row("not_judged", "crashed", "as it should not", 2.0), "not judged, crashed (2.0 s) as it should not"),
    (row("got_through", "measured", "faster", 3.0, 2.0), "GOT THROUGH, measured 2.000x (3.0 s) faster"),
    (row("as_expected", "wrong", "outputs differ", 3.0), "wrong (3.0 s) outputs differ"),
])  # fmt: skip
def test_a_row_is_a_sentence(member: Row, said: str) -> None:
    assert sentence(member) == said
