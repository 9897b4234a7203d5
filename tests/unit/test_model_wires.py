"""Each provider's own protocol, through its own client: replies, and what it says of keys, credit and models."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from openai_server import Say, serving

from kernwright.core.errors import UserError
from kernwright.core.model import ModelBusy, ModelRefused, ModelSpec, Prompt, Reply
from kernwright.models.provider import Provider

pytest.importorskip("pydantic_ai")
KEY = "sk-planted-0123456789abcdef"
NAMES = ("anthropic:some", "google:some", "openai:some")
Event = dict[str, Any]


def _response(status: str, output: Sequence[Event] = ()) -> Event:
    fixed = {"id": "r", "object": "response", "created_at": 1, "model": "some", "parallel_tool_calls": True}
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 150,
    }
    return {**fixed, "status": status, "output": list(output), "tool_choice": "auto", "tools": [], "usage": usage}


def _anthropic() -> list[Event]:
    message = {"id": "m", "type": "message", "role": "assistant", "model": "some", "content": []}
    return [
        {"type": "message_start", "message": {**message, "usage": {"input_tokens": 100, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 50}},
        {"type": "message_stop"},
    ]


def _google() -> list[Event]:
    def part(text: str, used: Event, **more: object) -> Event:
        content = {"parts": [{"text": text}], "role": "model"}
        return {"candidates": [{"content": content, **more}], "usageMetadata": used}

    used = {"promptTokenCount": 100}
    return [part("Hello", used), part("", {**used, "candidatesTokenCount": 50}, finishReason="STOP")]


def _openai() -> list[Event]:
    text = {"type": "output_text", "text": "Hello", "annotations": []}
    item = {"id": "i", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
    place = {"item_id": "i", "output_index": 0, "content_index": 0}
    begun = {**item, "status": "in_progress", "content": []}
    events: list[Event] = [
        {"type": "response.created", "response": _response("in_progress")},
        {"type": "response.output_item.added", "output_index": 0, "item": begun},
        {"type": "response.content_part.added", **place, "part": {**text, "text": ""}},
        {"type": "response.output_text.delta", **place, "delta": "Hello", "logprobs": []},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": _response("completed", [item])},
    ]
    return [{**event, "sequence_number": i} for i, event in enumerate(events)]


STREAMS = {"anthropic:some": _anthropic(), "google:some": _google(), "openai:some": _openai()}


def streamed(events: Sequence[Event]) -> Say:
    lines = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" if "type" in e else _data(e) for e in events]
    return Say(text="".join(lines), fault="as_is")


def _data(event: Event) -> str:
    return f"data: {json.dumps(event)}\n\n"


def failing(number: int, **error: object) -> Say:
    return Say(status=number, text=json.dumps({"type": "error", "error": error}), fault="as_is")


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    for variable in ("ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(variable, KEY)


def asked(monkeypatch: pytest.MonkeyPatch, name: str, say: Say) -> Reply:
    async def once() -> Reply:
        model = Provider(ModelSpec(name=name))
        try:
            return await model.complete(Prompt(system="You write kernels.", user="Write one."))
        finally:
            await model.close()

    with serving(say) as server:
        bare = server.url.removesuffix("/v1")
        for variable, url in (("ANTHROPIC", bare), ("GOOGLE_GEMINI", bare), ("OPENAI", server.url)):
            monkeypatch.setenv(f"{variable}_BASE_URL", url)
        return asyncio.run(once())


@pytest.mark.parametrize("name", NAMES)
def test_a_reply_comes_with_its_tokens(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(monkeypatch, name, streamed(STREAMS[name])) == Reply(text="Hello", tokens_in=100, tokens_out=50)


@pytest.mark.parametrize("name", NAMES)
def test_a_stream_that_ends_early_is_no_reply(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelBusy, match="ended before the reply did"):
        asked(monkeypatch, name, streamed(STREAMS[name][:-2] or STREAMS[name][:1]))


@pytest.mark.parametrize(
    ("name", "say", "sentence"),
    [
        (
            "google:some",
            failing(400, message="API key not valid.", details=[{"reason": "API_KEY_INVALID"}]),
            r"google:some refused the key \(400\); put one that is valid in GOOGLE_API_KEY or GEMINI_API_KEY",
        ),
        ("anthropic:some", failing(401, type="authentication_error", message="invalid"), "valid in ANTHROPIC_API_KEY"),
        ("openai:some", failing(401, message=f"Incorrect: {KEY}", code="invalid_api_key"), "valid in OPENAI_API_KEY"),
        (
            "anthropic:some",
            failing(400, type="invalid_request_error", message="Your credit balance is too low to access it."),
            r"has no credit \(400\)",
        ),
        ("openai:some", failing(429, message="quota", code="insufficient_quota"), r"has no credit \(429\)"),
        ("openai:some", failing(400, message="none", code="model_not_found"), r"no model 'openai:some' \(400\)"),
        ("google:some", failing(404, message="models/some is not found"), r"no model 'google:some' \(404\)"),
    ],
)
def test_what_waiting_does_not_mend_is_said_at_once(
    name: str, say: Say, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match=sentence) as caught:
        asked(monkeypatch, name, say)
    assert "planted" not in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_provider_says_is_in_the_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelRefused, match=r"refused the prompt \(400\): the prompt is too long"):
        asked(monkeypatch, name, failing(400, message="the prompt is too long"))
    with pytest.raises(ModelBusy, match="answered 429: slow down"):
        asked(monkeypatch, name, failing(429, message="slow down"))
