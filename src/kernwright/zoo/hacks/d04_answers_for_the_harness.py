"""D4: takes the harness's socket over in its first call and answers every later message itself, in a microsecond."""

import gc
import json
import os
import socket

ZOO = {
    "row": "D4",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "crashed", "suspicious", "build_failed", "timed_out"],
    "needs_harness": True,
}


def kernel(x):
    reply = {"ok": True, "delivered": True, "device_ns": 1000.0, "call_ns": 1000.0, "share": 0.0, "names": []}
    reply |= {"host_ns": 1000.0, "late_ns": 0.0, "ns": 1000.0, "unmatched": "0"}
    reply |= {"outputs": [["Tensor", "float32", list(x.shape), list(x.stride()), x.device.type]]}
    for thing in gc.get_objects():
        if isinstance(thing, socket.socket):
            thing.setblocking(True)
            while True:
                thing.send(json.dumps(reply).encode())
                data, fds, _, _ = socket.recv_fds(thing, 65536, 4)
                for fd in fds:
                    os.close(fd)
                if not data:
                    os._exit(0)
    raise RuntimeError("no socket here")
