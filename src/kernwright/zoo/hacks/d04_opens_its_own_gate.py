"""D4: writes the word that lets it go, which is the judge's, and says that it is queued when all is done."""

import ctypes
import gc

import torch

ZOO = {
    "row": "D4",
    "problem": "large_softmax",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed", "timed_out"],
    "contained_ok": True,
    "needs_harness": True,
}
_WORDS_APART = 64
_wait = torch.cuda.synchronize


def _opening(runtime):
    honest = runtime._tell

    def tell(turn):
        if turn and runtime._queued is not None:
            ctypes.c_uint32.from_address(ctypes.addressof(runtime._queued) - _WORDS_APART).value = turn
            _wait()
        honest(turn)

    return tell


for _thing in gc.get_objects():
    if type(_thing).__name__ == "CudaRuntime":
        _thing._tell = _opening(_thing)
        _thing._elapsed = lambda start, end, honest=_thing._elapsed: 0.3 * honest(start, end)


def kernel(x):
    return torch.softmax(x, dim=-1)
