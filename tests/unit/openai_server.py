"""A server on loopback that speaks OpenAI's chat protocol, and misbehaves when told to."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Say:
    """One answer."""

    text: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    fault: str = ""
    """`truncated`: the body breaks off inside JSON; `hangup`: the stream ends before the reply does; `stall`: nothing
    comes until the client has gone; `garbage`: a page that is no JSON; `echo`: an error that repeats the key;
    `endless`: the text again and again, `thinking`: the same as thoughts, until the client has gone; `page`: an error
    that is a web page; `as_is`: the text is the body, in whatever protocol."""
    finish: str = "stop"
    tokens: tuple[int, int] | None = (100, 50)


@dataclass
class Server:
    """What it was asked, and under which address it is."""

    url: str
    answers: list[Say]
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> Say:
        """The next answer; the last for ever."""
        with self.lock:
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def serving(*answers: Say | str) -> Iterator[Server]:
    """A server that gives these answers, the last of them to every further request."""
    listed = [Say(text=each) if isinstance(each, str) else each for each in answers]
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    state = Server(url=f"http://127.0.0.1:{server.server_port}/v1", answers=listed)
    server.state = state  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        state.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        state: Server = self.server.state  # type: ignore[attr-defined]
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers.get("Authorization", "")
        with state.lock:
            state.requests.append({"path": self.path, **asked})
            state.keys.append(key)
        say = state.next()
        if say.fault == "stall":
            state.closing.wait(30)
            self.close_connection = True
        elif say.fault == "page":
            self._send(
                say.status, f"<html><body>{'<h1>Bad gateway</h1>' * 999}</body></html>", {"Content-Type": "text/html"}
            )
        elif say.fault == "as_is":
            kind = "text/event-stream" if say.status == 200 else "application/json"
            self._send(say.status, say.text, {"Content-Type": kind})
        elif say.status != 200:
            message = f"Incorrect API key provided: {key}" if say.fault == "echo" else f"status {say.status}"
            self._send(say.status, json.dumps({"error": {"message": message, "type": "x", "code": None}}), say.headers)
        elif say.fault == "garbage":
            self._send(200, "<html>busy</html>", {"Content-Type": "text/html"})
        elif asked.get("stream"):
            self._stream(state, say)
        else:
            self._send(200, json.dumps(_whole(say)), {})

    def _send(self, status: int, body: str, headers: dict[str, str]) -> None:
        data = body.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, state: Server, say: Say) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in _chunks(say)]
        if say.fault in ("endless", "thinking"):
            line = lines[0].replace('"content"', '"reasoning_content"') if say.fault == "thinking" else lines[0]
            with suppress(OSError):
                while not state.closing.is_set():
                    self.wfile.write(line.encode())
            return
        if say.fault == "truncated":
            self.wfile.write("".join(lines)[: len(lines[0]) + len(lines[1]) // 2].encode())
            return
        if say.fault == "hangup":
            lines = lines[: len(lines) // 2]
        else:
            lines.append("data: [DONE]\n\n")
        for line in lines:
            self.wfile.write(line.encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing."""


def _chunks(say: Say) -> Sequence[dict[str, Any]]:
    pieces = [say.text[i : i + 64] for i in range(0, len(say.text), 64)] or [""]
    common = {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": "local"}
    chunks: list[dict[str, Any]] = [
        {**common, "choices": [{"index": 0, "delta": {"role": "assistant", "content": piece}, "finish_reason": None}]}
        for piece in pieces
    ]
    chunks.append({**common, "choices": [{"index": 0, "delta": {}, "finish_reason": say.finish}]})
    if say.tokens:
        chunks.append({**common, "choices": [], "usage": _usage(say.tokens)})
    return chunks


def _whole(say: Say) -> dict[str, Any]:
    message = {"role": "assistant", "content": say.text}
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": "local",
        "choices": [{"index": 0, "message": message, "finish_reason": say.finish}],
        **({"usage": _usage(say.tokens)} if say.tokens else {}),
    }


def _usage(tokens: tuple[int, int]) -> dict[str, int]:
    return {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
