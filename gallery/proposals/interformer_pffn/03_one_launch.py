"""One launch: 128 resident programs make the matrices, wait for each other once, then transform the samples.

The counter only grows: a program's own ticket says which number of arrivals ends this call's wait, so nothing has to be
cleared. 128 programs of four or eight warps fit the 132 multiprocessors at once.
"""

import torch
import triton
import triton.language as tl

ONE_LAUNCH = True
SAMPLES = 64
TOKENS = 128
NUM_WARPS = 8
PROGRAMS = 128
KNOBS = {"ONE_LAUNCH": [True, False], "SAMPLES": [32, 64, 128], "TOKENS": [64, 128], "NUM_WARPS": [4, 8]}


@triton.jit
def layer(
    summary,
    weight,
    own,
    sequence,
    scale,
    out,
    counter,
    batch,
    tokens,
    length: tl.constexpr,
    width: tl.constexpr,
    epsilon: tl.constexpr,
    samples: tl.constexpr,
    columns: tl.constexpr,
    depth: tl.constexpr,
    rows: tl.constexpr,
    block: tl.constexpr,
    first: tl.constexpr,
    second: tl.constexpr,
):
    outputs: tl.constexpr = width * width
    if first:
        wide = tl.cdiv(outputs, columns)
        for job in tl.range(tl.program_id(0), wide * tl.cdiv(batch, samples), tl.num_programs(0)):
            column = job % wide * columns + tl.arange(0, columns)
            sample = job // wide * samples + tl.arange(0, samples)
            total = tl.zeros([samples, columns], tl.float32)
            for start in tl.range(0, length, depth, num_stages=3):
                number = start + tl.arange(0, depth)
                left = tl.load(
                    summary + sample[:, None] * length + number[None, :],
                    mask=(sample < batch)[:, None] & (number < length)[None, :],
                    other=0.0,
                )
                right = tl.load(
                    weight + column[None, :] * length + number[:, None],
                    mask=(column < outputs)[None, :] & (number < length)[:, None],
                    other=0.0,
                )
                total = tl.dot(left, right, total)
            at = tl.cast(sample, tl.int64)[:, None] * outputs + column[None, :]
            inside = (sample < batch)[:, None] & (column < outputs)[None, :]
            tl.store(own + at, total.to(own.dtype.element_ty), mask=inside)
    if first and second:
        tl.debug_barrier()  # what all threads wrote is published by the ticket
        ticket = tl.atomic_add(counter, 1, sem="acq_rel")
        arrivals = (ticket // tl.num_programs(0) + 1) * tl.num_programs(0)
        seen = ticket + 1
        while seen < arrivals:
            seen = tl.atomic_add(counter, 0, sem="acquire")
        tl.debug_barrier()
    if second:
        high = tl.cdiv(tokens, rows)
        place = tl.arange(0, block)
        live = place < width
        factor = tl.load(scale + place, mask=live, other=0.0).to(tl.float32)
        for job in tl.range(tl.program_id(0), batch * high, tl.num_programs(0)):
            one = tl.cast(job // high, tl.int64)
            row = job % high * rows + tl.arange(0, rows)
            spot = one * (tokens * width) + row[:, None] * width + place[None, :]
            there = (row < tokens)[:, None] & live[None, :]
            value = tl.load(sequence + spot, mask=there, other=0.0)
            matrix = tl.load(
                own + one * outputs + place[:, None] * width + place[None, :],
                mask=live[:, None] & live[None, :],
                other=0.0,
                cache_modifier=".cg",
            )
            mixed = tl.dot(value, matrix)
            mixed = value.to(tl.float32) + 0.5 * mixed * (1.0 + tl.erf(mixed * 0.7071067811865476))
            inverse = tl.rsqrt(tl.sum(mixed * mixed, 1) / width + epsilon)
            result = mixed * inverse[:, None] * factor[None, :]
            tl.store(out + spot, result.to(out.dtype.element_ty), mask=there)


class ModelNew(torch.nn.Module):
    def __init__(self, width: int, summary: int, epsilon: float = 1e-6) -> None:
        super().__init__()
        self.width = width
        self.epsilon = epsilon
        self.make = torch.nn.Linear(summary, width * width, bias=False)
        self.scale = torch.nn.Parameter(1.0 + 0.1 * torch.randn(width))
        self.register_buffer("counter", torch.zeros(1, dtype=torch.int64), persistent=False)

    def forward(self, summary, sequence):
        summary, sequence, weight = summary.contiguous(), sequence.contiguous(), self.make.weight.contiguous()
        batch, tokens, width = sequence.shape
        outputs, length = weight.shape
        own = sequence.new_empty(batch, outputs)
        out = torch.empty_like(sequence)
        rows = min(TOKENS, max(16, triton.next_power_of_2(tokens)))
        for first, second in [(True, True)] if ONE_LAUNCH else [(True, False), (False, True)]:
            layer[(PROGRAMS if ONE_LAUNCH else 4 * PROGRAMS,)](
                summary,
                weight,
                own,
                sequence,
                self.scale,
                out,
                self.counter,
                batch,
                tokens,
                length=length,
                width=width,
                epsilon=self.epsilon,
                samples=SAMPLES,
                columns=32,
                depth=64,
                rows=rows,
                block=max(16, triton.next_power_of_2(width)),
                first=first,
                second=second,
                num_warps=NUM_WARPS,
            )
        return out
