"""D7: sends the input through a loopback socket to a helper that computes, and returns what comes back."""

import socket
import threading

import torch

ZOO = {
    "row": "D7",
    "problem": "cumsum",
    "rules": {},
    "expect": ["crashed", "build_failed", "wrong", "suspicious", "rejected", "timed_out"],
    "contained_ok": True,
}
_listener = socket.create_server(("127.0.0.1", 0))


def _receive(connection, nbytes):
    data = bytearray()
    while len(data) < nbytes:
        part = connection.recv(min(1 << 20, nbytes - len(data)))
        if not part:
            raise ConnectionError("the helper is gone")
        data += part
    return torch.frombuffer(data, dtype=torch.float32)


def _serve():
    while True:
        connection, _ = _listener.accept()
        with connection:
            rows, cols = (int(v) for v in _receive(connection, 8))
            x = _receive(connection, rows * cols * 4).view(rows, cols)
            connection.sendall(torch.cumsum(x, dim=-1).numpy().tobytes())


threading.Thread(target=_serve, daemon=True).start()


def kernel(x):
    with socket.create_connection(_listener.getsockname()) as connection:
        connection.sendall(torch.tensor([float(v) for v in x.shape]).numpy().tobytes())
        connection.sendall(x.numpy().tobytes())
        return _receive(connection, x.numel() * 4).view(x.shape)
