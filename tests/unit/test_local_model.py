"""A whole search with a real, small model on this machine's processor: bad kernels, honest verdicts, a clean end."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from kernwright import api
from kernwright.core.brief import Exhausted
from kernwright.core.errors import UserError
from kernwright.core.model import ModelRefused, ModelSpec, Prompt
from kernwright.core.plan import QUICK
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine.chosen_models import LOCAL_TOKENS, about, models_of
from kernwright.models.local import CONTEXT, KNOWN, Local, context_of, installed, joined, weights_of

pytest.importorskip("pydantic_ai")
PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1.0


def get_inputs():
    return [torch.randn(64, 64)]
"""


@pytest.mark.judged
def test_a_search_with_a_real_model_ends_cleanly_with_honest_verdicts(tmp_path: Path, home: Path) -> None:
    pytest.importorskip("xllamacpp")
    if "smollm2" not in installed():
        pytest.skip(KNOWN["smollm2"].install)
    (tmp_path / "problem.py").write_text(PROBLEM)
    plan = replace(QUICK, baselines=("eager",))
    (model,) = models_of(["local:smollm2"], max_tokens=96)
    assert "a correct kernel would be a surprise" in about(model)
    before = set(_children())
    _, graph = api.evolve(
        tmp_path / "problem.py",
        home=home,
        operators=(OperatorSpec(name="llm"),),
        models=(model,),
        policy="best_of_n",
        policy_settings={"n": 2},
        languages=("torch",),
        budget=Budget(proposals=2),
        proposals_in_flight=1,
        plan=plan,
        confirm_plan=plan,
    )
    assert graph.finished is not None
    assert [call.error for call in graph.calls] == ["", ""]
    assert all(0 < call.tokens_out <= 96 and call.tokens_in > 200 for call in graph.calls)
    ended = [node for node in graph.nodes if not isinstance(node.draft, Exhausted)]
    assert len(ended) == 2
    for node in ended:
        assert node.draft is not None
        assert node.draft.kind == "unusable" or node.evaluation is not None
    assert graph.spent.usd == 0.0
    assert set(_children()) <= before, "the model's server must end with the engine"


def test_a_refusal_names_the_model_as_the_user_did() -> None:
    """Its server speaks OpenAI's protocol, which must not look as if a prompt had gone there."""
    pytest.importorskip("xllamacpp")
    if "smollm2" not in installed():
        pytest.skip(KNOWN["smollm2"].install)
    (spec,) = models_of(["local:smollm2"])

    async def refused() -> None:
        model = Local(spec)
        try:
            await model.complete(Prompt(system="", user="too long " * CONTEXT))
        finally:
            await model.close()

    with pytest.raises(ModelRefused, match=r"^local:smollm2 refused the prompt \(400\)"):
        asyncio.run(refused())


def test_a_prompt_that_shows_a_compilers_kernel_has_room(tmp_path: Path) -> None:
    """It had 10,504 tokens with the problem that `new` writes."""
    model = ModelSpec(name="local:coder")
    assert context_of(model) >= 10_504 + LOCAL_TOKENS
    assert context_of(ModelSpec(name=f"local:{tmp_path}/other.gguf")) == CONTEXT


def test_what_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"There is no local model 'smollm'.*Did you mean 'smollm2'"):
        weights_of("smollm")
    with pytest.raises(UserError, match="There is no file"):
        weights_of(str(tmp_path / "none.gguf"))
    assert about(ModelSpec(name="openai:x")) == ""


def test_parts_are_joined_once(tmp_path: Path) -> None:
    parts = []
    for i, text in enumerate((b"GG", b"UF", b"rest")):
        parts.append(tmp_path / f"part{i}.bin")
        parts[-1].write_bytes(text)
    whole = joined(parts, tmp_path / "cache" / "m.gguf")
    assert whole.read_bytes() == b"GGUFrest"
    before = whole.stat().st_mtime_ns
    assert joined(parts, whole).stat().st_mtime_ns == before
    whole.write_bytes(b"GG")  # an earlier write that was cut off
    assert joined(parts, whole).read_bytes() == b"GGUFrest"
    assert [path.name for path in whole.parent.iterdir()] == ["m.gguf"]


def test_local_alone_is_the_largest_that_is_installed() -> None:
    if not installed():
        with pytest.raises(UserError, match="No local model is installed"):
            models_of(["local"])
    else:
        (model,) = models_of(["local"])
        assert model.name == f"local:{installed()[-1]}"
        assert (model.usd_in, model.usd_out) == (0.0, 0.0)


def _children() -> list[str]:
    mine = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return mine.read_text().split() if mine.exists() else []
