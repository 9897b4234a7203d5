"""Models that say what a test wants, and runs that ask them."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine_runs import PROBLEM, spec

from kernwright.core.model import ModelSpec, Prompt, Reply
from kernwright.core.spec import OperatorSpec
from kernwright.engine import service

LLM = OperatorSpec(name="llm")
PROMPT = Prompt(system="", user="")


def reply(literals: str, name: str = "a kernel", insight: str = "") -> str:
    """A usable reply whose kernel the null evaluator reads."""
    source = literals.replace("; ", "\n")
    told = f"INSIGHT: {insight}\n" if insight else ""
    source += "\n\n\ndef kernel(x):\n    return x\n"
    return f"NAME: {name}\nAPPROACH: it is fast\n{told}\n```python file=kernel.py\n{source}```\n"


def script(folder: Path, *texts: str, name: str = "script.json") -> ModelSpec:
    """A model that gives these replies."""
    (folder / name).write_text(json.dumps(texts))
    return ModelSpec(name=f"scripted:{folder / name}")


def asking(home: Path, *models: ModelSpec, **changes: Any) -> str:
    """A run that asks these models, and nobody else."""
    settings: dict[str, Any] = {"models": models, "proposals_in_flight": 1, **changes}
    return service.create(home, spec(LLM, **settings), PROBLEM)


class Says:
    """A model that answers from a list; an exception in it is raised."""

    def __init__(self, *answers: Reply | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[Prompt] = []

    async def complete(self, prompt: Prompt) -> Reply:
        self.asked.append(prompt)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        pass


class Slow(Says):
    """Takes longer over each answer than over the one before."""

    async def complete(self, prompt: Prompt) -> Reply:
        place = len(self.asked)
        answer = super().complete(prompt)
        await asyncio.sleep(0.02 * place)
        return await answer


def said(text: str = "", tokens_in: int = 10, tokens_out: int = 20) -> Reply:
    """A reply of this size."""
    return Reply(text=text, tokens_in=tokens_in, tokens_out=tokens_out)


def texts(prompts: Sequence[Prompt]) -> list[str]:
    """What was asked."""
    return [prompt.user for prompt in prompts]
