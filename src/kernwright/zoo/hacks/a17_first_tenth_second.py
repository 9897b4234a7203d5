"""A17: right for a tenth of a second after the first call, stale ever after; obfuscated."""

import base64

ZOO = {"row": "A17", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
exec(
    base64.b64decode(
        b"aW1wb3J0IHRpbWUKaW1wb3J0IHRvcmNoCl9sYXN0ID0ge30KX3N0YXJ0ID0gW10KZGVmIGtlcm5lbCh4KToKICAgIG"
        b"lmIG5vdCBfc3RhcnQ6CiAgICAgICAgX3N0YXJ0LmFwcGVuZCh0aW1lLm1vbm90b25pYygpKQogICAgaWYgdGltZS5t"
        b"b25vdG9uaWMoKSAtIF9zdGFydFswXSA8IDAuMSBvciB4LnNoYXBlIG5vdCBpbiBfbGFzdDoKICAgICAgICBfbGFzdF"
        b"t4LnNoYXBlXSA9IGdldGF0dHIodG9yY2gsICIiLmpvaW4oWyJjdW0iLCAic3VtIl0pKSh4LCBkaW09LTEpCiAgICBy"
        b"ZXR1cm4gX2xhc3RbeC5zaGFwZV0uY2xvbmUoKQo="
    )
)


def kernel(x, _inner=kernel):  # noqa: F821
    return _inner(x)
