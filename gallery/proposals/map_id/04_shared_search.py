"""CUDA: every n-th key in shared memory, the search ends among the n keys beside it; one kernel, no workspace.

Small tables lie in shared memory as a whole. n follows from the table's length alone.
"""

import torch

from kernwright.languages.cuda_loader import load

THREADS = 1024
UNROLL = 4
KEPT = 13312
KNOBS = {"THREADS": [256, 512, 1024], "UNROLL": [1, 2, 4], "KEPT": [1664, 3328, 6656, 13312]}

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(THREADS) look_up(const long long* ids, const long long* __restrict__ keys,
                                                              const long long* __restrict__ numbers, long long* out,
                                                              long long count, int known, int every, int kept,
                                                              long long other) {
    extern __shared__ long long some[];  // the last key of each run of `every`
    for (int i = threadIdx.x; i < kept; i += THREADS) {
        const long long at = (long long)(i + 1) * every - 1;
        some[i] = keys[at < known ? at : known - 1];
    }
    __syncthreads();
    const long long stride = (long long)gridDim.x * THREADS * UNROLL;
    for (long long base = (long long)blockIdx.x * THREADS * UNROLL + threadIdx.x; base < count; base += stride) {
        long long wanted[UNROLL];
        int low[UNROLL];
#pragma unroll
        for (int i = 0; i < UNROLL; ++i) {
            wanted[i] = base + i * THREADS < count ? __ldcs(ids + base + i * THREADS) : 0;
            low[i] = 0;
        }
        int size = kept;
        while (size > 1) {
            const int half = size / 2;
#pragma unroll
            for (int i = 0; i < UNROLL; ++i)
                if (some[low[i] + half - 1] < wanted[i]) low[i] += half;
            size -= half;
        }
        size = every;
#pragma unroll
        for (int i = 0; i < UNROLL; ++i) low[i] *= every;
        while (size > 1) {
            const int half = size / 2;
#pragma unroll
            for (int i = 0; i < UNROLL; ++i) {
                const int at = low[i] + half - 1;
                if (at < known && keys[at] < wanted[i]) low[i] += half;
            }
            size -= half;
        }
        long long number[UNROLL];
#pragma unroll
        for (int i = 0; i < UNROLL; ++i) {
            const long long key = low[i] < known ? keys[low[i]] : wanted[i] - 1;
            number[i] = low[i] < known && key == wanted[i] ? numbers[low[i]] : other;
        }
#pragma unroll
        for (int i = 0; i < UNROLL; ++i)
            if (base + i * THREADS < count) __stcs(out + base + i * THREADS, number[i]);
    }
}
"""

library = load(SOURCE, defines={"THREADS": THREADS, "UNROLL": UNROLL})


class ModelNew(torch.nn.Module):
    def __init__(self, known: int, span: int, default: int = -1) -> None:
        super().__init__()
        self.default = default
        self.register_buffer("keys", torch.randperm(span)[:known].sort().values)
        self.register_buffer("numbers", torch.randperm(known))

    def forward(self, ids):
        ids = ids.contiguous()
        out = torch.empty_like(ids)
        count, known = ids.numel(), self.keys.numel()
        room = KEPT if count > 1 << 20 else min(KEPT, 1024)  # few ids do not pay for many keys
        every = 1
        while -(-known // every) > room:
            every *= 2
        kept = -(-known // every)
        blocks = min(-(-count // THREADS), 132 * (2048 // THREADS))
        library.look_up(
            blocks, THREADS, ids, self.keys, self.numbers, out, count, known, every, kept, self.default, shared=8 * kept
        )
        return out
