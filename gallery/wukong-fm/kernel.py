# Exported by Kernwright 0.1.0: node 2 of run 20261122-wukong-fm-e11d, by Claude (Anthropic).
# problem: wukong_fm (f9139c9ebd5c054172499555580185a7)
# verdict: verified
# speedup: 1.276x [1.266, 1.285], 95 % interval, against the faster of PyTorch eager and torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: the module ran in eval() mode
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 0c01c3b23c5cc7240c784a76e5156ccb01e01aff79a09bd27d7e5fa8116464ff
# workload: many_columns {'batch': 1024, 'features': 24, 'width': 224, 'columns': 2198}
# workload: forty {'batch': 1024, 'features': 40, 'width': 224, 'columns': 448}
# workload: forty_eight {'batch': 1024, 'features': 48, 'width': 224, 'columns': 448}
# use: from this file import ModelNew, in the place of Model

"""Samples of few features stacked to 64 rows: block-diagonal pairs times stacked Y, both on warp-group products.

A sample of 24 features alone fills no Hopper tile. Products between different samples are put to zero.
"""

import torch
import triton
import triton.language as tl

ROWS = 64
TILE = 128
NUM_WARPS = 4
STAGES = 2
KNOBS = {"ROWS": [64, 128], "TILE": [64, 128, 256], "NUM_WARPS": [4, 8], "STAGES": [1, 2, 3]}


@triton.jit
def machine(
    x,
    y,
    out,
    batch,
    features: tl.constexpr,
    width: tl.constexpr,
    columns: tl.constexpr,
    rows: tl.constexpr,
    depth: tl.constexpr,
    tile: tl.constexpr,
    samples: tl.constexpr,
    stages: tl.constexpr,
):
    # Rows are packed: row r is feature r % features of sample r // features, as they lie in memory.
    row = tl.arange(0, rows)
    used: tl.constexpr = samples * features
    first = tl.program_id(0).to(tl.int64) * samples
    known = (row < used) & (first + row // features < batch)
    x += first * (features * width)
    pairs = tl.zeros([rows, rows], tl.float32)
    for start in tl.static_range(0, width, depth):
        number = start + tl.arange(0, depth)
        part = tl.load(
            x + row[:, None] * width + number[None, :], mask=known[:, None] & (number < width)[None, :], other=0.0
        )
        pairs = tl.dot(part, tl.trans(part), pairs)
    same = (row[:, None] // features == row[None, :] // features) & known[:, None] & known[None, :]
    both = tl.where(same, pairs, 0.0).to(x.dtype.element_ty)
    out += first * (features * columns)
    for start in tl.range(0, columns, tile, num_stages=stages):
        column = start + tl.arange(0, tile)
        inside = known[:, None] & (column < columns)[None, :]
        stacked = tl.load(y + (row % features)[:, None] * columns + column[None, :], mask=inside, other=0.0)
        result = tl.dot(both, stacked)
        tl.store(out + row[:, None] * columns + column[None, :], result.to(out.dtype.element_ty), mask=inside)


class ModelNew(torch.nn.Module):
    def __init__(self, features: int, columns: int) -> None:
        super().__init__()
        self.projection = torch.nn.Parameter(torch.randn(features, columns) / features**0.5)

    def forward(self, x):
        x, y = x.contiguous(), self.projection.contiguous()
        (batch, features, width), columns = x.shape, y.shape[1]
        out = x.new_empty(batch, features, columns)
        rows = max(ROWS, triton.next_power_of_2(features))
        samples = rows // features
        machine[(triton.cdiv(batch, samples),)](
            x,
            y,
            out,
            batch,
            features=features,
            width=width,
            columns=columns,
            rows=rows,
            depth=min(128, max(16, triton.next_power_of_2(width))),
            tile=TILE,
            samples=samples,
            stages=STAGES,
            num_warps=NUM_WARPS,
        )
        return out
