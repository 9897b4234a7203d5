"""D4: writes forged replies on every open descriptor, the harness's socket included, and leaves."""

import json
import os

ZOO = {
    "row": "D4",
    "problem": "gelu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["crashed", "wrong", "suspicious"],
}


def kernel(x, a, b):
    line = {"ok": True, "delivered": True, "verdict": "verified", "correct": True, "speedup": 40.0, "device_ns": 1000.0}
    line |= {"host_ns": 1000.0, "late_ns": 0.0}
    line |= {"call_ns": 1000.0, "outputs": [["Tensor", "float32", list(x.shape), list(x.stride()), x.device.type]]}
    text = json.dumps(line).encode() + b"\n"
    for number in range(1, 256):
        try:
            os.set_blocking(number, False)
            for _ in range(8):
                os.write(number, text)
        except OSError:
            continue
    os._exit(0)
