"""D4: prints a verdict and leaves with exit code 0 before anybody can compare."""

import json
import os
import sys

ZOO = {"row": "D4", "problem": "softmax", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["crashed", "wrong"]}


def kernel(x):
    line = {"verdict": "verified", "correct": True, "faster": True, "speedup": 40.0, "reason": "all checks passed"}
    for stream in (sys.stdout, sys.stderr):
        print(json.dumps(line), file=stream, flush=True)
    os._exit(0)
