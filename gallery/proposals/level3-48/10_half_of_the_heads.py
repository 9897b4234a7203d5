"""CUDA: blocks of four heads, eight on a multiprocessor; a lane asks for a step, four bulk copies each.

4096 blocks half as long: finer steps at the end, and the pause of one block's start lies beside seven others. Decays
outside of the states, as in 08.
"""

import torch
from torch import nn

from kernwright.languages.cuda_loader import load

STEPS = 4
STAGES = 4
PER_SM = 8
KNOBS = {"STEPS": [4, 8], "STAGES": [2, 3, 4], "PER_SM": [4, 8]}

SOURCE = r"""
#define HEADS 8
#define WIDTH 64
#define STATE 16
#define HERE (HEADS / 2)
#define THREADS (HERE * 32)
typedef unsigned long long Barrier;

// DEVICE BEGIN
__device__ __forceinline__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(Barrier* b, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(b)), "r"(count) : "memory");
}
__device__ __forceinline__ void inits_seen() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void expect(Barrier* b, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(b)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(Barrier* b, unsigned parity) {
    unsigned done;
    do {
        asm volatile(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
            : "=r"(done) : "r"(place(b)), "r"(parity) : "memory");
    } while (!done);
}
__device__ __forceinline__ void bulk_load(void* to, const void* from, unsigned bytes, Barrier* b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(place(to)), "l"(from), "r"(bytes), "r"(place(b)) : "memory");
}
// DEVICE END

// A block is half of the heads of a batch entry, a warp a head.
// A lane keeps all states of two columns, divided by the decay since the chunk began.
extern "C" __global__ void __launch_bounds__(THREADS, PER_SM) scan(const float* x, const float* a, const float* b,
                                                                   const float* c, float* y, int batch, int length) {
    extern __shared__ __align__(128) float memory[];
    __shared__ Barrier full[STAGES];
    __shared__ unsigned readers[STAGES];
    constexpr int X = HERE * WIDTH, B = HERE * STATE, A = HERE;
    constexpr int SIZE = STEPS * (X + 2 * B + A);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int head = warp, column = lane * 2, group = 0;
    const int chunks = length / STEPS;
    const int all = chunks, other = blockIdx.x % 2 * HERE;
    auto first = [&](int chunk) { return (size_t)(blockIdx.x / 2) * length + chunk * STEPS; };
    // By a whole warp, a step a lane: rows of half of the heads are not neighbours in memory.
    auto request = [&](int chunk) {
        if (chunk < all && lane < STEPS) {
            float* to = memory + chunk % STAGES * SIZE;
            Barrier* bar = &full[chunk % STAGES];
            const size_t from = first(chunk) + lane;
            expect(bar, SIZE / STEPS * 4);
            bulk_load(to + lane * X, x + from * HEADS * WIDTH + other * WIDTH, X * 4, bar);
            bulk_load(to + STEPS * X + lane * B, b + from * HEADS * STATE + other * STATE, B * 4, bar);
            bulk_load(to + STEPS * (X + B) + lane * B, c + from * HEADS * STATE + other * STATE, B * 4, bar);
            bulk_load(to + STEPS * (X + 2 * B) + lane * A, a + from * HEADS + other, A * 4, bar);
        }
    };
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            init(&full[i], STEPS);
            readers[i] = 0;
        }
        inits_seen();
    }
    __syncthreads();
    if (warp == 0)
        for (int i = 0; i < STAGES; ++i) request(i);
    float2 state[STATE];
#pragma unroll
    for (int n = 0; n < STATE; ++n) state[n] = float2();
    int slot = 0;
    unsigned parity = 0;
    for (int chunk = 0; chunk < all; ++chunk) {
        wait(&full[slot], parity);
        float* from = memory + slot * SIZE;
        float2* xs = (float2*)(from + head * WIDTH + column);
        const float4* bs = (const float4*)(from + STEPS * X + head * STATE);
        const float4* cs = (const float4*)(from + STEPS * X + STEPS * B + head * STATE);
        // The decay since the chunk began, in lanes 0 to STEPS - 1 of a head's lanes and again in the others.
        const float mine = (from + STEPS * X + STEPS * 2 * B)[lane % STEPS * A + head];
        float sum_of = mine;
#pragma unroll
        for (int step = 1; step < STEPS; step *= 2) {
            const float lower = __shfl_up_sync(~0u, sum_of, step, STEPS);
            if (lane % STEPS >= step) sum_of += lower;
        }
        const bool fits = __all_sync(~0u, fabsf(sum_of) < 30.f);
        // Where the decay or its inverse might leave the range of a float: step by step instead.
        const float down = expf(fits ? sum_of : mine), up = fits ? expf(-sum_of) : 1.f;
        float* to = y + first(chunk) * (HEADS * WIDTH) + other * WIDTH + head * WIDTH + column;
#pragma unroll 2
        for (int t = 0; t < STEPS; ++t) {
            const float grown = __shfl_sync(~0u, up, group + t), decay = __shfl_sync(~0u, down, group + t);
            float2 in = xs[t * (X / 2)];
            if (!fits)
#pragma unroll
                for (int n = 0; n < STATE; ++n) state[n].x *= decay, state[n].y *= decay;
            in.x *= grown, in.y *= grown;
            float2 sum = float2();
#pragma unroll
            for (int q = 0; q < STATE / 4; ++q) {
                const float4 bq = bs[t * (B / 4) + q], cq = cs[t * (B / 4) + q];
                const float bv[4] = {bq.x, bq.y, bq.z, bq.w}, cv[4] = {cq.x, cq.y, cq.z, cq.w};
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    float2& h = state[q * 4 + i];
                    h.x += bv[i] * in.x;
                    sum.x += cv[i] * h.x;
                    h.y += bv[i] * in.y;
                    sum.y += cv[i] * h.y;
                }
            }
            const float back = fits ? decay : 1.f;
            sum.x *= back, sum.y *= back;
            __stcs((float2*)(to + t * (HEADS * WIDTH)), sum);
        }
        if (fits) {
            const float decay = __shfl_sync(~0u, down, group + STEPS - 1);
#pragma unroll
            for (int n = 0; n < STATE; ++n) state[n].x *= decay, state[n].y *= decay;
        }
        __syncwarp();
        unsigned last = 0;
        if (lane == 0) {
            __threadfence_block();
            last = atomicAdd(&readers[slot], 1u) % HERE == HERE - 1;
            __threadfence_block();
        }
        if (__shfl_sync(~0u, last, 0)) request(chunk + STAGES);
        if (++slot == STAGES) slot = 0, parity ^= 1;
    }
}
"""

library = load(SOURCE, defines={"STEPS": STEPS, "STAGES": STAGES, "PER_SM": PER_SM})


def by_torch(x, a, b, c):
    """The recurrence step by step, for shapes that the kernel is not made for."""
    batch, length, heads, width = x.shape
    state = x.new_zeros(batch, heads, b.shape[-1], width)
    steps = []
    for t in range(length):
        state = state * a[:, t].exp()[..., None, None] + b[:, t, :, :, None] * x[:, t, :, None, :]
        steps.append((c[:, t, :, :, None] * state).sum(dim=2))
    return torch.stack(steps, dim=1)


class ModelNew(nn.Module):
    def __init__(self, batch_size, seq_length, n_heads, d_head, d_state, block_len=64):
        super().__init__()
        self.A = nn.Parameter(torch.randn(batch_size, seq_length, n_heads))
        self.B = nn.Parameter(torch.randn(batch_size, seq_length, n_heads, d_state))
        self.C = nn.Parameter(torch.randn(batch_size, seq_length, n_heads, d_state))

    def forward(self, x, initial_states=None):
        a, b, c = self.A, self.B, self.C
        batch, length, heads, width = x.shape
        x = x.contiguous()
        shared = STAGES * STEPS * (4 * 64 + 2 * 4 * 16 + 4) * 4
        aligned = all(each.data_ptr() % 16 == 0 for each in (x, a, b, c))
        if (heads, width, b.shape[-1]) != (8, 64, 16) or length % STEPS or not aligned or shared > 230000:
            return by_torch(x, a, b, c)
        y = torch.empty_like(x)
        library.scan(2 * batch, 128, x, a, b, c, y, batch, length, shared=shared)
        return y
