"""Which words of questions go with which words of notes."""

import pytest

from kernwright.knowledge import associations
from kernwright.knowledge.asking import taken_apart
from kernwright.knowledge.associations import asked_words, known_of, noted_words, packed, scores_of
from kernwright.knowledge.vocabulary import SEEN

TAGS = ("tensor-cores-idle", "matmul", "cuda", "cuda:sm_80", "triton")
ASKED = taken_apart(TAGS, f"tensor pipe idle{SEEN}matmul of halves", ("cuda", "triton"), {"matmul": 1.0})


def test_kinds_of_words_are_told_apart() -> None:
    found = asked_words(ASKED)
    assert {"tag:matmul", "limit:tensor-cores-idle", "own:cuda", "platform:cuda", "target:cuda:sm_80"} <= found.keys()
    assert {"seen:pipe", "problem:halves"} <= found.keys()
    assert "problem:pipe" not in found
    noted = noted_words("Tiles of a matmul", "guidance", ("matmul",), ("compute",), ("any",))
    assert noted.keys() == {
        "folder:guidance",
        "tag:matmul",
        "limit:compute",
        "place:any",
        "title:tiles",
        "title:matmul",
    }


def test_what_was_learnt_ranks_notes_that_share_no_word_with_the_question() -> None:
    wanted = noted_words("", "guidance", ("epilogue",), (), ("cuda",))
    other = noted_words("", "guidance", ("scan",), (), ("cuda",))
    first, second = scores_of(ASKED, [known_of(wanted), known_of(other)])
    assert first > second


def test_words_of_which_nothing_was_learnt_count_nothing() -> None:
    assert scores_of(ASKED, [known_of({"tag:quernstone": 1.0}), known_of({})]) == [0.0, 0.0]


def test_vectors_survive_being_packed(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("table")
    (folder / "associations.json").write_text(packed({"tag:matmul": [1.0, -0.5]}, {"tag:wmma": [2.0, 4.0]}))
    monkeypatch.setattr(associations.resources, "files", lambda package: folder)
    associations._vectors.cache_clear()
    try:
        # The tag asked for weighs 1.5: its products with the note's are 2 and -2.
        assert scores_of(ASKED, [known_of({"tag:wmma": 1.0})]) == [pytest.approx(0.0, abs=0.05)]
    finally:
        associations._vectors.cache_clear()
