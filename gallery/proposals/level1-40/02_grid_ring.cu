// All blocks together hold a row in shared memory, always at the same columns: weights stay in registers, the next rows
// come into a ring while this one is written, and blocks meet once a row.
// PTX that the rest uses by name.
typedef unsigned long long Barrier;  // an mbarrier in shared memory

__device__ __forceinline__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(Barrier* b, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(b)), "r"(count) : "memory");
}
__device__ __forceinline__ void inits_seen() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void arrive(Barrier* b) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place(b)) : "memory");
}
__device__ __forceinline__ void expect(Barrier* b, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(b)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(Barrier* b, unsigned parity) {
    unsigned done;
    do {
        asm volatile(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
            : "=r"(done)
            : "r"(place(b)), "r"(parity)
            : "memory");
    } while (!done);
}
// Global to shared memory, whole and by the copy engine; read once, so first to leave the L2 cache.
__device__ __forceinline__ void bulk_load(void* to, const void* from, unsigned bytes, Barrier* b) {
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(
            place(to)),
        "l"(from), "r"(bytes), "r"(place(b)), "l"(policy)
        : "memory");
}
// The kernel.
#define WARPS (CONSUMERS / 32)
#define EACH (CHUNK / 4 / CONSUMERS)

struct Spread {
    float mean, square;  // of n values: their mean, and the sum of squared distances from it
};

__device__ __forceinline__ Spread merged(Spread a, Spread b, float n) {  // n values each
    float apart = b.mean - a.mean;
    return {a.mean + 0.5f * apart, a.square + b.square + apart * apart * (0.5f * n)};
}

template <int LANES>
__device__ __forceinline__ Spread over_lanes(Spread mine, float n) {
#pragma unroll
    for (int step = 1; step < LANES; step *= 2, n *= 2.0f) {
        Spread other = {__shfl_xor_sync(0xffffffffu, mine.mean, step), __shfl_xor_sync(0xffffffffu, mine.square, step)};
        mine = merged(mine, other, n);
    }
    return mine;
}

__device__ __forceinline__ Spread over_block(Spread mine, float n, Spread* lanes) {
    mine = over_lanes<32>(mine, n);
    __syncthreads();
    if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = mine;
    __syncthreads();
    return over_lanes<WARPS>(lanes[threadIdx.x % WARPS], 32.0f * n);
}

__device__ __forceinline__ float4 minus(float4 v, float m) { return make_float4(v.x - m, v.y - m, v.z - m, v.w - m); }
__device__ __forceinline__ float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }
__device__ __forceinline__ float squares_of(float4 v) { return (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w); }

// Takes FOURS vectors more into what is known of n vectors.
template <int FOURS>
__device__ __forceinline__ Spread taken(Spread mine, const float4* v, float n) {
    float sum = 0.0f, square = 0.0f;
#pragma unroll
    for (int i = 0; i < FOURS; ++i) sum += sum_of(v[i]);
    const float mean = sum * (0.25f / FOURS);
#pragma unroll
    for (int i = 0; i < FOURS; ++i) square += squares_of(minus(v[i], mean));
    const float apart = mean - mine.mean, share = FOURS / (n + FOURS);
    return {mine.mean + apart * share, mine.square + square + apart * apart * (4.0f * n * share)};
}

extern "C" __global__ void __launch_bounds__(CONSUMERS, 1)
    layer_norm(const float* __restrict__ x, const float4* __restrict__ weight, const float4* __restrict__ bias,
               float* __restrict__ y, float2* parts, unsigned* done, int rows, float eps, int patience) {
    extern __shared__ __align__(128) float4 ring[];
    __shared__ Barrier full[SLOTS], empty[SLOTS];
    __shared__ Spread lanes[WARPS];
    __shared__ bool together;
    const int tid = threadIdx.x;
    const size_t columns = (size_t)gridDim.x * (CHUNKS * CHUNK), mine_at = (size_t)blockIdx.x * (CHUNKS * CHUNK);
    if (tid == 0) {
        for (int i = 0; i < SLOTS; ++i) {
            init(&full[i], 1);
            init(&empty[i], WARPS);
        }
        inits_seen();
    }
    __syncthreads();

    int filled = 0;  // chunks asked for so far; the first thread asks, when all have left the slot
    auto fill = [&]() {
        if (tid == 0 && filled < rows * CHUNKS) {
            const int slot = filled % SLOTS, round = filled / SLOTS;
            if (round) wait(&empty[slot], (round & 1) ^ 1);
            expect(&full[slot], CHUNK * 4);
            bulk_load(ring + slot * (CHUNK / 4), x + filled / CHUNKS * columns + mine_at + filled % CHUNKS * CHUNK,
                      CHUNK * 4, &full[slot]);
            ++filled;
        }
        __syncwarp();
    };
    for (int i = 0; i < SLOTS; ++i) fill();

    float4 w[CHUNKS * EACH];
    const float4* my_bias = bias + mine_at / 4 + tid;
#pragma unroll
    for (int i = 0; i < CHUNKS * EACH; ++i) w[i] = __ldcs(&weight[mine_at / 4 + i * CONSUMERS + tid]);

    int in = 0, out = 0;
    unsigned in_parity = 0;
    Spread mine = {0.0f, 0.0f};
    auto look = [&](int c) {
        wait(&full[in], in_parity);
        float4 v[EACH];
#pragma unroll
        for (int i = 0; i < EACH; ++i) v[i] = ring[in * (CHUNK / 4) + i * CONSUMERS + tid];
        mine = taken<EACH>(mine, v, (float)(c * EACH));
        if (++in == SLOTS) in = 0, in_parity ^= 1;
    };
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) look(c);

    for (int row = 0; row < rows; ++row) {
        float4 b[EACH];
#pragma unroll
        for (int i = 0; i < EACH; ++i) b[i] = __ldg(&my_bias[i * CONSUMERS]);
        mine = over_block(mine, CHUNKS * EACH * 4.0f, lanes);
        if (tid == 0) {
            parts[(size_t)row * gridDim.x + blockIdx.x] = make_float2(mine.mean, mine.square);
            __threadfence();
            atomicAdd(&done[row], 1u);
            int tries = 0;
            while (*(volatile unsigned*)&done[row] < gridDim.x && ++tries < patience) __nanosleep(20);
            together = tries < patience;
            __threadfence();
        }
        __syncthreads();
        if (together) {  // each warp by itself: sums of a few parts a lane, then of the lanes
            mine = {0.0f, 0.0f};
            float n = 0.0f;
            for (int i = tid % 32; i < gridDim.x; i += 32, n += 1.0f) {
                float2 part = __ldcg(&parts[(size_t)row * gridDim.x + i]);
                float apart = part.x - mine.mean, share = 1.0f / (n + 1.0f);
                mine.mean += apart * share;
                mine.square += part.y + apart * apart * (n * share * (float)(CHUNKS * CHUNK));
            }
            mine = over_lanes<32>(mine, n * (CHUNKS * CHUNK));
        } else {  // others are not here: the whole row by this block alone
            mine = {0.0f, 0.0f};
            float n = 0.0f;
            const float4* all = reinterpret_cast<const float4*>(x + row * columns);
#pragma unroll 1
            for (size_t i = tid; i < columns / 4; i += CONSUMERS, n += 1.0f) {
                float4 v = __ldg(&all[i]);
                mine = taken<1>(mine, &v, n);
            }
            mine = over_block(mine, 4.0f * n, lanes);
        }
        const float mean = mine.mean, scale = 1.0f / sqrtf(mine.square / (float)columns + eps);

        const bool more = row + 1 < rows;
        float4* to = reinterpret_cast<float4*>(y + row * columns + mine_at) + tid;
        mine = {0.0f, 0.0f};
#pragma unroll
        for (int c = 0; c < CHUNKS; ++c) {
            if (c) fill();  // the slot that was left in the step before
            float4 v[EACH], next[EACH];
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                v[i] = ring[out * (CHUNK / 4) + i * CONSUMERS + tid];
                if (c + 1 < CHUNKS) next[i] = __ldg(&my_bias[((c + 1) * EACH + i) * CONSUMERS]);
            }
            __syncwarp();
            if (tid % 32 == 0) arrive(&empty[out]);
            if (++out == SLOTS) out = 0;
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                const float4 f = w[c * EACH + i];
                v[i].x = fmaf((v[i].x - mean) * scale, f.x, b[i].x);
                v[i].y = fmaf((v[i].y - mean) * scale, f.y, b[i].y);
                v[i].z = fmaf((v[i].z - mean) * scale, f.z, b[i].z);
                v[i].w = fmaf((v[i].w - mean) * scale, f.w, b[i].w);
                __stcs(&to[(c * EACH + i) * CONSUMERS], v[i]);
                if (c + 1 < CHUNKS) b[i] = next[i];
            }
            if (more && c >= DELAY) look(c - DELAY);
        }
        fill();
        if (more) {
#pragma unroll
            for (int c = CHUNKS > DELAY ? CHUNKS - DELAY : 0; c < CHUNKS; ++c) look(c);
        }
    }
}
