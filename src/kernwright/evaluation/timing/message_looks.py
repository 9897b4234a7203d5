"""What the judge copies of the results of a long message: of large ones samples while its clock runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from kernwright.core.outcome import Wrong
from kernwright.evaluation.ended import Ended

SAMPLED, WIDTH = 1 << 20, 256
"""Of larger results no more bytes than this are copied while a clock runs, so many at a place. To copy five whole ones
takes longer than calls do, and by some per cents more or less where memory lies otherwise."""
Bytes = torch.Tensor
"""Of one call's results, uint8 of shape (bytes,)."""
BEHIND_TIME = "a result of a long message changed after the message had been answered"


@dataclass(frozen=True, slots=True)
class Looks:
    """Which calls' results are copied; one named twice is copied twice."""

    calls: tuple[int, ...] = ()
    phase: float = 0.0
    """Where samples lie, from 0 to 1: nobody knows it before a message is answered."""
    whole: bool = True
    """Whether the results are wanted once the time is taken; else the copies stand for those of messages whose are."""


NONE = Looks()


class Copies:
    """Memory for them, and what was copied of the latest message."""

    def __init__(self, device: torch.device, stride: int, looks: int) -> None:
        """For so many results of `stride` bytes each: to allocate it while a clock runs takes now long, now not."""
        self._small = stride <= SAMPLED
        nbytes = stride if self._small else _samples(torch.empty(stride, dtype=torch.uint8, device="meta"), 0.0).numel()
        self._samples = torch.empty((looks, nbytes), dtype=torch.uint8, device=device)
        self._looks, self._stride, self._whole = looks, stride, self._samples if self._small else None
        self._from: tuple[Bytes, ...] = ()
        self._phase = 0.0

    @property
    def looks(self) -> int:
        """For how many there is room."""
        return self._looks

    def take(self, results: Sequence[Bytes], phase: float) -> None:
        """While the clock runs. Bytes alone: how many results they are takes the host no time."""
        self._from, self._phase = tuple(results), phase
        for place, result in zip(self._samples, results, strict=False):
            place.copy_(result) if self._small else place.view(-1, WIDTH).copy_(_samples(result, phase))

    def whole(self) -> Iterator[Bytes]:
        """What was copied, entirely; the next `take` overwrites it.

        Raises:
            Ended: a sample was another while the clock ran.
        """
        if self._small:
            return iter(self._samples[: len(self._from)])
        if self._whole is None:
            shape = self._looks, self._stride
            self._whole = torch.empty(shape, dtype=torch.uint8, device=self._samples.device)
        same = []
        for place, sample, result in zip(self._whole, self._samples, self._from, strict=False):
            place.copy_(result)
            same.append((_samples(place, self._phase) == sample.view(-1, WIDTH)).all())
        if same and not torch.stack(same).all():
            raise Ended(Wrong(reason=BEHIND_TIME))
        return iter(self._whole[: len(self._from)])


def _samples(result: Bytes, phase: float) -> torch.Tensor:
    """Places of a large result, as far from each other as each of them, of shape (places, WIDTH); a view."""
    step = -(-result.numel() // (SAMPLED // WIDTH))
    rows = result.numel() // step
    start = int(phase * (step - WIDTH))
    return result[: rows * step].view(rows, step)[:, start : start + WIDTH]
