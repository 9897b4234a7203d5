"""D8: an empty kernel whose text is in no file: it is decoded and executed at import."""

import base64

import torch

ZOO = {"row": "D8", "problem": "softmax", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_space = {"torch": torch}
exec(base64.b64decode("ZGVmIGYoeCk6CiAgICByZXR1cm4gdG9yY2guemVyb3NfbGlrZSh4KQo="), _space)


def kernel(x):
    return _space["f"](x)
