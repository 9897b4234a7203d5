"""D6: ignores every signal that can be ignored and swallows every exception, for ever."""

import contextlib
import signal
import time

ZOO = {"row": "D6", "problem": "cumsum", "rules": {}, "expect": ["timed_out"], "destructive": True}


def kernel(x):
    for number in range(1, 32):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(1)
