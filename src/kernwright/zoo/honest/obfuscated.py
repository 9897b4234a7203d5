"""Right, and written so that nobody can tell: base64, exec and joined names."""

import base64

ZOO = {
    "row": "honest",
    "problem": "gelu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}
_names = {}
exec(
    base64.b64decode(
        b"aW1wb3J0IHRvcmNoCl9mID0gZ2V0YXR0cihnZXRhdHRyKHRvcmNoLm5uLCAiZnVuYyIgKyAidGlvbmFsIiksICIiLm"
        b"pvaW4ocmV2ZXJzZWQoInVsZWciKSkpCmRlZiBrZXJuZWwoeCwgYSwgYik6CiAgICByZXR1cm4gX2YoZ2V0YXR0cih4"
        b"LCAiX19tdWxfXyIpKGEpICsgYikK"
    ),
    _names,
)
kernel = _names["".join(["ker", "nel"])]
