"""The page on bundles names every part and key that there is."""

from pathlib import Path

from kernwright.engine.bundles.document import KEYS, PARTS
from kernwright.engine.bundles.facts import FORMAT

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "bundle.md").read_text()


def test_every_part_and_key_is_documented() -> None:
    for name in (*KEYS, *PARTS):
        assert f"| `{name}` |" in PAGE
    assert f"| `format` | `{FORMAT}` |" in PAGE
