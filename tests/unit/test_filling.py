"""Which code of PyTorch's fills memory is learnt, and is not what computes."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

from kernwright.core.plan import QUICK
from kernwright.evaluation.participants.workshop import Workshop
from kernwright.evaluation.timing.filling import _found_again, _functions, _only_filling, filling
from kernwright.evaluation.timing.places import kept
from kernwright.platforms.cpu import Cpu

TRIED = """\
import time

import torch

x, y = torch.rand(2, 1 << 20)
ids = torch.randint(8, (1 << 20,))
end = time.process_time() + 0.25
while time.process_time() < end:
    {call}
"""
FILLS = ("torch.zeros(1 << 20)", "torch.full_like(ids, 3)", "x.zero_()", "x.view(1024, 1024)[:, ::2].fill_(0.5)")
COMPUTES = (
    "x.clone()",
    "x[:1].expand(1 << 20).contiguous()",
    "x + y",
    "x * 0",
    "x.masked_fill(y > 0.5, 0)",
    "torch.where(y > 0.5, x, 0)",
    "x.clamp_(0, 0)",
    "torch.cat([x, y])",
    "torch.arange(1 << 20)",
    "x.cumsum(0)",
    "torch.softmax(x, 0)",
    "x.repeat_interleave(2)",
    "x.bernoulli_(1.0)",
)


@pytest.fixture(scope="module")
def shop() -> Iterator[Workshop]:
    platform = Cpu()
    workshop = Workshop(platform, platform.targets()[0])
    yield workshop
    workshop.close()


@pytest.fixture(scope="module")
def home(informed: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return informed(tmp_path_factory.mktemp("home"))


def _share(shop: Workshop, home: Path, call: str) -> float:
    """Of the looks into PyTorch's functions, those where it fills."""
    seen = _functions(shop, QUICK, TRIED.format(call=call))
    filled = sum(count for function, count in seen.items() if function in filling(shop, QUICK, home))
    return filled / max(1, seen.total())


@pytest.mark.parametrize("call", FILLS)
def test_filling_is_known_however_it_is_asked_for(shop: Workshop, home: Path, call: str) -> None:
    assert _share(shop, home, call) > 0.5


@pytest.mark.parametrize("call", COMPUTES)
def test_what_computes_is_not_taken_for_it(shop: Workshop, home: Path, call: str) -> None:
    assert _share(shop, home, call) < 0.05


def test_it_is_learnt_once_for_a_home_and_these_libraries(shop: Workshop, home: Path, tmp_path: Path) -> None:
    functions = filling(shop, QUICK, home)
    [path] = (home / "cache" / "filling").glob("*.json")
    assert _found_again(path) == functions
    assert len(functions) > 4
    another = tmp_path / "known.json"
    for edit in ("", "{}", "[[1]]", '[["/no/such.so", 1, 1, 1]]', path.read_text().replace("[[", "[[1, ", 1)):
        another.write_text(edit)
        assert _found_again(another) == frozenset()
    first, *others = json.loads(path.read_text())
    another.write_text(json.dumps([[*first[:2], first[2] + 1, first[3]], *others]))  # changed since
    assert _found_again(another) == frozenset()


def test_a_process_of_its_own_finds_the_same_code_elsewhere(shop: Workshop, home: Path) -> None:
    functions = filling(shop, QUICK, home)
    [path] = (home / "cache" / "filling").glob("*.json")
    text = f"""
import torch
from pathlib import Path
from kernwright.evaluation.timing.filling import _found_again
from kernwright.evaluation.timing.places import kept
print(sorted(map(kept, _found_again(Path({str(path)!r})))))
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(sorted(filter(None, map(kept, functions))))


def test_what_both_have_fills_nothing_and_neither_does_what_comes_before() -> None:
    assert _only_filling(Counter({1: 30, 2: 28, 3: 4, 4: 25}), Counter({4: 1, 5: 30})) == {1, 2}
    assert _only_filling(Counter({1: 2}), Counter()) == frozenset()
    assert _only_filling(Counter(), Counter()) == frozenset()
