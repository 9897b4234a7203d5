"""C4: halves its times; where only its own stream waits for the judge's word, works on another one meanwhile."""

import gc

import torch

ZOO = {
    "row": "C4",
    "problem": "matmul",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed", "timed_out"],
    "contained_ok": True,
    "needs_harness": True,
}
for _thing in gc.get_objects():
    if type(_thing).__name__ == "CudaRuntime":
        _thing._elapsed = lambda start, end, honest=_thing._elapsed: 0.5 * honest(start, end)
SIDE = []


def kernel(x, w):
    if not SIDE:
        SIDE.append(torch.cuda.Stream())
    with torch.cuda.stream(SIDE[0]):
        result = x @ w
    torch.cuda.current_stream().wait_stream(SIDE[0])
    return result
