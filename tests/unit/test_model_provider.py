"""The real client library against a server that speaks the wire format, well and badly."""

import asyncio
from collections.abc import Callable

import pytest
from openai_server import Say, serving

from kernwright.core.errors import UserError
from kernwright.core.model import ModelBusy, ModelRefused, ModelSpec, Prompt, Reply
from kernwright.models.provider import OWN_KEY, Provider

pytest.importorskip("pydantic_ai")
PROMPT = Prompt(system="You write kernels.", user="Write one.")
KEY = "sk-planted-0123456789abcdef"


def asked(url: str, **changes: object) -> Reply:
    async def once() -> Reply:
        settings: dict[str, object] = {"name": "openai:local", "base_url": url, **changes}
        model = Provider(ModelSpec(**settings))  # type: ignore[arg-type]
        try:
            return await model.complete(PROMPT)
        finally:
            await model.close()

    return asyncio.run(once())


def test_a_reply_comes_streamed_with_its_tokens() -> None:
    text = "def kernel(x):\n    return x\n" * 20
    with serving(text) as server:
        reply = asked(server.url, max_tokens=321, temperature=0.5)
    assert reply == Reply(text=text, tokens_in=100, tokens_out=50)
    (request,) = server.requests
    assert (request["path"], request["model"], request["stream"]) == ("/v1/chat/completions", "local", True)
    assert [m["content"] for m in request["messages"]] == [PROMPT.system, PROMPT.user]
    assert 321 in (request.get("max_tokens"), request.get("max_completion_tokens"))
    assert request["temperature"] == 0.5


def test_tokens_that_nobody_counted_are_taken_at_their_most() -> None:
    with serving(Say(text="abc", tokens=None)) as server:
        reply = asked(server.url)
    assert (reply.tokens_in, reply.tokens_out) == (PROMPT.most_tokens, 3)


def test_a_reply_at_the_limit_of_tokens_is_known_as_cut_off() -> None:
    with serving(Say(text="abc", finish="length")) as server:
        assert asked(server.url).truncated


@pytest.mark.parametrize(
    ("say", "reason", "after_s", "billed"),
    [
        (Say(status=429, headers={"Retry-After": "7"}), "answered 429", 7.0, False),
        (Say(status=500), "answered 500", None, False),
        (Say(status=503), "answered 503", None, False),
        (Say(text="x" * 500, fault="truncated"), "", None, True),
        (Say(text="x" * 500, fault="hangup"), "", None, True),
        (Say(fault="garbage"), "", None, True),
    ],
)
def test_what_may_pass_is_busy(say: Say, reason: str, after_s: float | None, billed: bool) -> None:
    with serving(say) as server, pytest.raises(ModelBusy) as caught:
        asked(server.url)
    assert reason in str(caught.value)
    assert str(caught.value).startswith("openai:local ")
    assert say.fault == "garbage" or "the address of its API" not in str(caught.value)
    assert (caught.value.after_s, caught.value.billed) == (after_s, billed)
    assert len(server.requests) == 1, "the client library must not try again unseen"


@pytest.mark.parametrize("fault", ["endless", "thinking"])
def test_a_server_without_a_limit_of_tokens_is_cut_off(fault: str) -> None:
    """What it may charge for is about what it sent, and the reply is known as cut off."""
    with serving(Say(text="x" * 64, fault=fault)) as server:
        reply = asked(server.url, max_tokens=100)
    assert reply.truncated
    assert len(reply.text) <= 1000
    assert (reply.tokens_in, reply.tokens_out) == (PROMPT.most_tokens, 200)


def test_an_error_that_is_a_web_page_is_a_short_sentence() -> None:
    with serving(Say(status=502, fault="page")) as server, pytest.raises(ModelBusy) as caught:
        asked(server.url)
    said = str(caught.value)
    assert said.startswith("openai:local answered 502: Bad gateway Bad")
    assert "<" not in said
    assert len(said) < 400


def test_a_page_in_place_of_a_reply_asks_whether_the_address_is_right() -> None:
    with serving(Say(fault="garbage")) as server, pytest.raises(ModelBusy, match=r"is http://127.* the address of its"):
        asked(server.url)


def test_a_stall_ends() -> None:
    with serving(Say(fault="stall")) as server, pytest.raises(ModelBusy) as caught:
        asked(server.url, timeout_s=0.2)
    assert caught.value.billed


def test_nobody_there_is_busy_and_costs_nothing() -> None:
    with serving("x") as server:
        url = server.url
    with pytest.raises(ModelBusy, match="cannot be reached") as caught:
        asked(url)
    assert not caught.value.billed


@pytest.mark.parametrize(
    ("status", "kind", "sentence"),
    [
        (401, UserError, rf"refused the key \(401\); put one that is valid in {OWN_KEY}"),
        (404, UserError, r"There is no model 'openai:local' at http://127.*\(404\)"),
        (400, ModelRefused, r"refused the prompt \(400\)"),
    ],
)
def test_what_will_not_pass_is_a_sentence(status: int, kind: type[Exception], sentence: str) -> None:
    with serving(Say(status=status)) as server, pytest.raises(kind, match=sentence):
        asked(server.url)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_a_key_that_the_server_repeats_is_in_no_sentence(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OWN_KEY, KEY)
    with serving(Say(status=status, fault="echo")) as server, pytest.raises(Exception, match="openai:local") as caught:
        asked(server.url)
    assert server.keys == [f"Bearer {KEY}"]
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert "planted" not in str(caught.value)


def test_another_server_is_not_shown_a_providers_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv(OWN_KEY, raising=False)
    with serving("x") as server:
        asked(server.url)
    assert "planted" not in server.keys[0]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("openai:gpt-5", "openai:gpt-5 needs a key; put it in the environment variable OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-4-5", "needs a key; put it in the environment variable ANTHROPIC_API_KEY"),
        ("google:gemini-2.5-pro", "needs a key; put it in the environment variable GOOGLE_API_KEY"),
        ("nonsense:x", "There is no provider for the model 'nonsense:x'"),
        ("groq:x", "The provider 'groq' needs its own client"),
    ],
)
def test_no_key_and_no_provider(name: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(UserError, match=sentence):
        Provider(ModelSpec(name=name))


def test_an_event_loop_after_the_other() -> None:
    """Each engine has one of its own; the client's connections must not outlive theirs."""
    ask: Callable[[str], Reply] = asked
    with serving("x") as server:
        assert [ask(server.url).text for _ in range(3)] == ["x"] * 3
