"""What a model says of a profile beside the rules. It can add classes, after theirs; it can take none away."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from kernwright.core.diagnosis import Bottleneck, Diagnosis

LONGEST, MOST = 1500, 3
LONGEST_EVIDENCE = 200
CLASSES: Sequence[str] = get_args(Bottleneck)
_LINE = re.compile(
    r"^[\s*_#>-]*BOTTLENECK[\s*_]*:[\s*_`]*([a-z0-9-]+)[\s*_`]*(?:[-:,(]|$)\s*(.*?)\)?\s*$", re.IGNORECASE
)


def joined(diagnosis: Diagnosis, text: str, model: str) -> Diagnosis:
    """The rules' diagnosis with a model's opinion. Classes that there are none of, or that figures rule out, are left
    out of the classes; the sentences stay for readers."""
    excluded = {line.partition(":")[0] for line in diagnosis.ruled_out}
    found: dict[str, str] = {}
    for line in text.splitlines():
        said = _LINE.match(line)
        if said is None:
            continue
        name = said[1].lower()
        if name in CLASSES and name not in diagnosis.bottlenecks and name not in excluded and len(found) < MOST:
            found.setdefault(name, f"{model} says: {said[2][:LONGEST_EVIDENCE] or 'no reason given'}")
    opinion = " ".join(line.strip() for line in text.strip()[:LONGEST].splitlines() if line.strip())
    return replace(
        diagnosis,
        bottlenecks=(*diagnosis.bottlenecks, *found),
        evidence=(*diagnosis.evidence, *found.values()),
        text=f"{diagnosis.text}\n{model} says: {opinion}" if opinion else diagnosis.text,
        model=model,
    )
