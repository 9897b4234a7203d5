"""CUDA: reads leave L2 first and writes stay there; a block gets its samples' places once, all loads independent.

Of what a call writes, tens of megabytes may stay in L2, if the events read beside do not push it out. Threads take
16-byte pieces of the flat result of several samples, or of a part of one.
"""

import torch

from kernwright.languages.cuda_loader import load

THREADS = 256
UNROLL = 4
READS = 1  # 0: plain, 1: evict first
WRITES = 0  # 0: plain, 1: evict last, 2: evict first
KNOBS = {"THREADS": [128, 256, 512], "UNROLL": [2, 4, 8], "READS": [1, 0], "WRITES": [0, 1, 2]}

SOURCE = r"""
__device__ inline unsigned long long early() {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
__device__ inline unsigned long long late() {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
__device__ inline float4 get_by(const float4* p, unsigned long long policy) {
    float4 v;
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p), "l"(policy));
    return v;
}
__device__ inline void put_by(float4* p, float4 v, unsigned long long policy) {
    asm volatile("st.global.L2::cache_hint.v4.f32 [%0], {%1, %2, %3, %4}, %5;"
                 :: "l"(p), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w), "l"(policy) : "memory");
}
// HINTS END
__device__ inline float get_by(const float* p, unsigned long long) { return *p; }
__device__ inline void put_by(float* p, float v, unsigned long long) { *p = v; }

// `size`: pieces of what is kept of a sample; `width`: pieces of an event. T is a piece.
template <typename T>
__device__ inline void copy(const T* events, const long long* lengths, T* out, long long* left_out, int batch,
                            int steps, int most, int width, int group, int parts, T zero) {
    __shared__ int starts[THREADS], lives[THREADS];
    const unsigned size = (unsigned)most * width;
    const long long sample0 = (long long)(blockIdx.x / parts) * group;
    const int part = blockIdx.x % parts, here = batch - sample0 < group ? (int)(batch - sample0) : group;
    const unsigned long long reads = early(), writes = WRITES == 2 ? early() : late();
    if (threadIdx.x < here) {
        const long long length = lengths[sample0 + threadIdx.x], left = length < most ? length : most;
        if (part == 0) left_out[sample0 + threadIdx.x] = left;
        lives[threadIdx.x] = left > 0 ? (int)left * width : 0;
        // Beyond the sequence places are clamped: then the first row, as -1 - row.
        starts[threadIdx.x] = length <= steps ? (left > 0 ? (int)(length - left) * width : 0)
                                              : -1 - (int)(length - left < steps ? length - left : steps - 1);
    }
    __syncthreads();
    const unsigned all = here * size;
    unsigned at = part * (THREADS * UNROLL) + threadIdx.x;
    events += sample0 * steps * width;
    out += sample0 * size;
    T value[UNROLL];
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
        const unsigned flat = at + i * THREADS;
        value[i] = zero;
        if (flat < all) {
            const unsigned sample = group == 1 ? 0 : flat / size, place = flat - sample * size;
            const int start = starts[sample];
            const T* source = events + (long long)sample * steps * width;
            if (place < (unsigned)lives[sample]) {
                long long from = start + (long long)place;
                if (start < 0) {
                    const long long row = -1 - start + (long long)(place / width);
                    from = (row < steps ? row : steps - 1) * width + place % width;
                }
                value[i] = READS ? get_by(source + from, reads) : source[from];
            }
        }
    }
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
        if (at + i * THREADS < all) {
            if (WRITES) put_by(out + at + i * THREADS, value[i], writes);
            else out[at + i * THREADS] = value[i];
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) copy4(const float4* events, const long long* lengths,
                                                            float4* out, long long* left, int batch, int steps,
                                                            int most, int width, int group, int parts) {
    copy<float4>(events, lengths, out, left, batch, steps, most, width, group, parts, make_float4(0.f, 0.f, 0.f, 0.f));
}

extern "C" __global__ void __launch_bounds__(THREADS) copy1(const float* events, const long long* lengths, float* out,
                                                            long long* left, int batch, int steps, int most,
                                                            int width, int group, int parts) {
    copy<float>(events, lengths, out, left, batch, steps, most, width, group, parts, 0.f);
}
"""

library = load(SOURCE, defines={"THREADS": THREADS, "UNROLL": UNROLL, "READS": READS, "WRITES": WRITES})


class ModelNew(torch.nn.Module):
    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def forward(self, events, lengths):
        events, lengths = events.contiguous(), lengths.contiguous()
        batch, steps, width = events.shape
        out = events.new_empty(batch, self.most, width)
        left = torch.empty_like(lengths)
        wide = width % 4 == 0
        each = width // 4 if wide else width
        size, tile = self.most * each, THREADS * UNROLL
        group = max(1, min(THREADS, tile // size))
        parts = -(-size // tile)
        blocks = -(-batch // group) * parts
        launch = library.copy4 if wide else library.copy1
        launch(blocks, THREADS, events, lengths, out, left, batch, steps, self.most, each, group, parts)
        return out, left
