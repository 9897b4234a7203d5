"""Models of providers, and of any server that speaks OpenAI's protocol, through Pydantic AI."""

import asyncio
import os
import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from kernwright.core.errors import UserError, missing_extra
from kernwright.core.model import ModelBusy, ModelRefused, ModelSpec, Prompt, Reply
from kernwright.core.secrets import scrubbed

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

KEYS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
}
"""Where the providers that the extra brings look for their keys."""
OWN_KEY = "KERNWRIGHT_API_KEY"
"""For a server that `base_url` names: it must not be shown a provider's key."""
WHOLE = 10
"""A whole reply may take this many times the time of a stall."""
LONGEST_REASON = 300
KEY_FAULTS = ("API_KEY_INVALID", "invalid_api_key", "authentication_error")
CREDIT_FAULTS = ("insufficient_quota", "credit balance is too low", "billing_hard_limit_reached")
MODEL_FAULTS = ("model_not_found",)
"""What providers say in the body of a 400 or 429 that no other prompt and no waiting will change."""
BYTES_PER_TOKEN = 8
"""More than source has on average; what is longer than that by the limit of tokens comes from a server without one."""


_TAG = re.compile(r"<[^<>]{0,200}>")


class Provider:
    """One attempt at a time; what is worth another is said, not done, so that every attempt is journalled."""

    def __init__(self, spec: ModelSpec, *, used: int = 0, called: str = "") -> None:
        """Opens no connection. `called` is what people know the model by, where its name is a server's.

        Raises:
            UserError: the extra or a key is missing, or no provider has this name.
        """
        self._spec = spec
        self._called = called or spec.name
        self._model = _model(spec)

    async def complete(self, prompt: Prompt) -> Reply:
        """Streamed, so that a stall is told from a long reply."""
        from pydantic_ai import exceptions as errors

        try:
            async with asyncio.timeout(WHOLE * self._spec.timeout_s):
                return await self._streamed(prompt)
        except TimeoutError:
            raise ModelBusy(f"{self._called} took too long for one reply", billed=True) from None
        except errors.ModelAPIError as error:
            raise self._failed(error) from None
        except errors.ContentFilterError as error:
            raise ModelRefused(self._said("answered with nothing but its filter's refusal", error)) from None
        except (ModelBusy, ModelRefused):
            raise
        except (errors.UnexpectedModelBehavior, ValueError, OSError) as error:
            hint = f" (is {self._spec.base_url} the address of its API?)" if self._spec.base_url else ""
            raise ModelBusy(self._said("sent what is no reply", error) + hint, billed=True) from None
        except Exception as error:
            # Clients differ in what they raise for a connection that breaks in the middle of a reply.
            raise ModelBusy(self._said("broke off", error), billed=True) from None

    async def close(self) -> None:
        """Close the connections."""
        async with self._model:
            pass

    async def _streamed(self, prompt: Prompt) -> Reply:
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart

        size = 0
        request = ModelRequest(parts=[SystemPromptPart(prompt.system), UserPromptPart(prompt.user)])
        async with model_request_stream(self._model, [request], model_settings=self._settings()) as stream:
            async for event in stream:
                if (size := size + _size(event)) > self._spec.max_tokens * BYTES_PER_TOKEN:
                    break
            response = stream.get()
            used, finish, details = stream.usage, stream.finish_reason, stream.provider_details or {}
        text = response.text or ""
        if size > self._spec.max_tokens * BYTES_PER_TOKEN:
            most = max(used.output_tokens, self._spec.max_tokens * 2)
            return Reply(text=text, tokens_in=used.input_tokens or prompt.most_tokens, tokens_out=most, truncated=True)
        # `finish_reason` alone is no sign: the library fills in `stop` where a connection was closed half-way.
        if not details.get("finish_reason") and finish != "content_filter":
            if size:
                raise ModelBusy(f"{self._called} broke off: the stream ended before the reply did", billed=True)
            raise ValueError("the stream ended before a reply began")
        if finish == "content_filter":
            raise ModelRefused(f"{self._called} answered with its filter's refusal")
        return Reply(
            text=text,
            # A server that counts nothing is taken at the most that it can have been.
            tokens_in=used.input_tokens or prompt.most_tokens,
            tokens_out=used.output_tokens or len(text.encode()),
            truncated=finish == "length",
        )

    def _settings(self) -> "ModelSettings":
        spec = self._spec
        settings: ModelSettings = {"max_tokens": spec.max_tokens, "timeout": spec.timeout_s, "max_retries": 0}
        if spec.temperature is not None:
            settings["temperature"] = spec.temperature
        return settings

    def _failed(self, error: Any) -> Exception:
        name, status = self._called, getattr(error, "status_code", None)
        body = str(getattr(error, "body", None) or "")

        def says(marks: tuple[str, ...]) -> bool:
            return status in (400, 429) and any(mark in body for mark in marks)

        if status in (401, 403) or says(KEY_FAULTS):
            return UserError(f"{name} refused the key ({status}); put one that is valid in {_variable(self._spec)}.")
        if status == 404 or says(MODEL_FAULTS):
            near = getattr(error, "suggested_model_id", None)
            where = f" at {self._spec.base_url}" if self._spec.base_url else ""
            hint = f" Did you mean {near!r}?" if near else " See the provider's list of models."
            if where and not near:
                hint = " Or that is not the address of its API, which mostly ends in /v1."
            return UserError(f"There is no model {name!r}{where} ({status}).{hint}")
        if status == 402 or says(CREDIT_FAULTS):
            return UserError(f"{name} says that the account has no credit ({status}).")
        if status is not None and status not in (408, 409, 425, 429) and status < 500:
            return ModelRefused(self._said(f"refused the prompt ({status})", error))
        if status is not None:
            return ModelBusy(self._said(f"answered {status}", error), after_s=getattr(error, "retry_after", None))
        # With no status there was no answer: the request may have arrived, and may be charged for.
        return ModelBusy(self._said("cannot be reached", error), billed="Timeout" in type(error).__name__)

    def _said(self, what: str, error: Exception) -> str:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        body = getattr(error, "body", None)
        if isinstance(body, dict) and isinstance(body.get("error"), dict):
            body = body["error"]  # as Anthropic and Google wrap it
        inner = body.get("message") if isinstance(body, dict) else body
        if not hasattr(error, "body"):
            inner = str(error) or type(error).__name__
        text = " ".join(_TAG.sub(" ", scrubbed(str(inner or ""))).split())[:LONGEST_REASON]
        return f"{self._called} {what}{': ' if text else ''}{text}"


def require_provider(name: str) -> None:
    """Raises UserError where no provider has the name that a model's begins with."""
    from pydantic_ai.providers import infer_provider_class

    try:
        infer_provider_class(name.partition(":")[0].rpartition("/")[2])
    except ImportError:
        pass  # there is one, whose client is not installed
    except ValueError as error:
        raise _refused(ModelSpec(name=name), str(error)) from None


def _size(event: object) -> int:
    """How much text an event of a stream brings, thoughts included."""
    part = getattr(event, "delta", None) or (
        getattr(event, "part", None) if hasattr(event, "previous_part_kind") else None
    )
    text = getattr(part, "content_delta", None) or getattr(part, "content", None)
    return len(text) if isinstance(text, str) else 0


def _model(spec: ModelSpec) -> "Model":
    if find_spec("pydantic_ai") is None:
        raise missing_extra(f"The model {spec.name!r}", "models")
    from pydantic_ai.exceptions import UserError as TheirError
    from pydantic_ai.models import infer_model
    from pydantic_ai.providers import infer_provider, infer_provider_class

    provider, _, model = spec.name.partition(":")
    if spec.base_url and provider == "openai":
        provider = "openai-chat"  # what other servers speak

    def made(name: str) -> Any:
        if not spec.base_url:
            return infer_provider(name)
        kind: Any = infer_provider_class(name)
        return kind(base_url=spec.base_url, api_key=os.environ.get(OWN_KEY) or "none")

    try:
        return infer_model(f"{provider}:{model}", provider_factory=made)
    except (TheirError, ValueError) as error:
        raise _refused(spec, str(error)) from None
    except ImportError:
        raise UserError(
            f"The provider {provider!r} needs its own client; install it with: "
            f"pip install 'pydantic-ai-slim[{provider}]'"
        ) from None
    except TypeError:
        raise UserError(f"The provider {provider!r} takes no --base-url; use openai:NAME with it.") from None


def _refused(spec: ModelSpec, said: str) -> UserError:
    variables = re.findall(r"`([A-Z][A-Z0-9_]*(?:KEY|TOKEN)[A-Z0-9_]*)`", said)
    if variables:
        return UserError(f"{spec.name} needs a key; put it in the environment variable {variables[0]}.")
    if addresses := re.findall(r"`([A-Z][A-Z0-9_]*_BASE_URL)`", said):
        return UserError(f"{spec.name} needs an address: --base-url, or the environment variable {addresses[0]}.")
    near = re.findall(r"Did you mean '([^']+)'", said)
    hint = f" Did you mean {near[0]!r}?" if near else f" Providers are {', '.join(sorted(KEYS))} and others."
    return UserError(f"There is no provider for the model {scrubbed(spec.name)!r}; write PROVIDER:NAME.{hint}")


def _variable(spec: ModelSpec) -> str:
    if spec.base_url:
        return OWN_KEY
    return " or ".join(KEYS.get(spec.name.partition(":")[0].partition("-")[0], ("its provider's variable",)))
