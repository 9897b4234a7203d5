// Weights in registers, the bias in shared memory; a ring of chunks of x, each seen twice: from memory, then from L2.
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
// Global to shared memory, whole and by the copy engine. SOON: what is read is the first to leave the L2 cache.
template <int SOON>
__device__ __forceinline__ void bulk_load(void* to, const void* from, unsigned bytes, Barrier* b) {
    if (SOON) {
        unsigned long long policy;
        asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], "
            "%4;" ::"r"(place(to)),
            "l"(from), "r"(bytes), "r"(place(b)), "l"(policy)
            : "memory");
    } else {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place(to)),
            "l"(from), "r"(bytes), "r"(place(b))
            : "memory");
    }
}
template <int SOME>
__device__ __forceinline__ void meet_some() {  // those threads of the block that work on numbers
    asm volatile("bar.sync 1, %0;" ::"n"(SOME) : "memory");
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

// What a block knows of its part of a row is one 8-byte store; all bits set means that it is not there yet.
__device__ __forceinline__ void tell(unsigned long long* to, Spread s) {
    unsigned long long word = ((unsigned long long)__float_as_uint(s.mean) << 32) | __float_as_uint(s.square);
    *(volatile unsigned long long*)to = word == ~0ull ? 0x7fffffff7fffffffull : word;
}

// One warp gathers all parts of a row of `columns` numbers; if they do not come, it goes through the row by itself.
__device__ __forceinline__ Spread gathered(const unsigned long long* parts, int count, const float* row, size_t columns,
                                           int patience) {
    const int lane = threadIdx.x % 32;
    const float wide = (float)(columns / count);
    Spread mine = {0.0f, 0.0f};
    float n = 0.0f;
    bool here = true;
    for (int i = lane; i < count; i += 32, n += 1.0f) {
        unsigned long long word;
        int tries = 0;
        while ((word = *(const volatile unsigned long long*)&parts[i]) == ~0ull && ++tries < patience) __nanosleep(20);
        here = here && word != ~0ull;
        const float apart = __uint_as_float((unsigned)(word >> 32)) - mine.mean, share = 1.0f / (n + 1.0f);
        mine.mean += apart * share;
        mine.square += __uint_as_float((unsigned)word) + apart * apart * (n * share * wide);
    }
    if (__all_sync(0xffffffffu, here)) return over_lanes<32>(mine, n * wide);
    mine = {0.0f, 0.0f};
    n = 0.0f;
    const float4* all = reinterpret_cast<const float4*>(row);
#pragma unroll 1
    for (size_t i = lane; i < columns / 4; i += 32, n += 1.0f) {
        float4 v = __ldg(&all[i]);
        mine = taken<1>(mine, &v, n);
    }
    return over_lanes<32>(mine, 4.0f * n);
}

__device__ __forceinline__ float4 normed(float4 v, float mean, float scale, float4 w, float4 b) {
    return make_float4(fmaf((v.x - mean) * scale, w.x, b.x), fmaf((v.y - mean) * scale, w.y, b.y),
                       fmaf((v.z - mean) * scale, w.z, b.z), fmaf((v.w - mean) * scale, w.w, b.w));
}
__device__ __forceinline__ void put_out(float4* to, float4 v) {
    if (STREAMED)
        __stcs(to, v);
    else
        *to = v;
}

extern "C" __global__ void __launch_bounds__(CONSUMERS + 64, 1)
    layer_norm(const float* __restrict__ x, const float4* __restrict__ weight, const float4* __restrict__ bias,
               float* __restrict__ y, unsigned long long* parts, int rows, float eps, int patience) {
    extern __shared__ __align__(128) float4 room[];  // the bias, then a ring of chunks
    float4* ring = room + CHUNKS * (CHUNK / 4);
    __shared__ Barrier full[SLOTS], empty[SLOTS], ready[2];
    __shared__ Spread lanes[2][WARPS], whole[2];
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, all = rows * CHUNKS;
    const size_t columns = (size_t)gridDim.x * (CHUNKS * CHUNK), mine_at = (size_t)blockIdx.x * (CHUNKS * CHUNK);
    if (tid == 0) {
        for (int i = 0; i < SLOTS; ++i) {
            init(&full[i], 1);
            init(&empty[i], WARPS);
        }
        init(&ready[0], 1);
        init(&ready[1], 1);
        inits_seen();
    }
    __syncthreads();

    if (warp == WARPS) {  // asks for chunks: one for the statistics, then one that was seen LAG chunks ago
        if (lane == 0) {
            int slot = 0;
            unsigned round = 0;
            auto ready_slot = [&]() {
                if (round) wait(&empty[slot], (round & 1) ^ 1);
                expect(&full[slot], CHUNK * 4);
                return ring + slot * (CHUNK / 4);
            };
            auto from = [&](int t) { return x + t / CHUNKS * columns + mine_at + t % CHUNKS * CHUNK; };
            for (int t = 0; t < all + LAG; ++t) {
                if (t < all) {
                    float4* to = ready_slot();
                    bulk_load<0>(to, from(t), CHUNK * 4, &full[slot]);
                    if (++slot == SLOTS) slot = 0, ++round;
                }
                if (t >= LAG) {
                    float4* to = ready_slot();
                    bulk_load<1>(to, from(t - LAG), CHUNK * 4, &full[slot]);
                    if (++slot == SLOTS) slot = 0, ++round;
                }
            }
        }
        return;
    }
    if (warp == WARPS + 1) {  // waits for the statistics of all blocks, ahead of those who need them
        for (int row = 0; row < rows; ++row) {
            Spread s = gathered(parts + (size_t)row * gridDim.x, gridDim.x, x + row * columns, columns, patience);
            if (lane == 0) {
                whole[row & 1] = {s.mean, 1.0f / sqrtf(s.square / (float)columns + eps)};
                arrive(&ready[row & 1]);
            }
            __syncwarp();
        }
        return;
    }

    float4 w[CHUNKS * EACH];
#pragma unroll
    for (int i = 0; i < CHUNKS * EACH; ++i) {
        w[i] = __ldg(&weight[mine_at / 4 + i * CONSUMERS + tid]);
        room[i * CONSUMERS + tid] = __ldg(&bias[mine_at / 4 + i * CONSUMERS + tid]);  // read by the same thread alone
    }
    int slot = 0;
    unsigned parity = 0;
    Spread mine = {0.0f, 0.0f};
    float4 v[EACH];
    auto take = [&]() {
        wait(&full[slot], parity);
#pragma unroll
        for (int i = 0; i < EACH; ++i) v[i] = ring[slot * (CHUNK / 4) + i * CONSUMERS + tid];
        __syncwarp();
        if (lane == 0) arrive(&empty[slot]);
        if (++slot == SLOTS) slot = 0, parity ^= 1;
    };
    auto look = [&](int c, int row) {
        take();
        mine = taken<EACH>(mine, v, (float)(c * EACH));
        if (c == CHUNKS - 1) {
            mine = over_lanes<32>(mine, CHUNKS * EACH * 4.0f);
            if (lane == 0) lanes[row & 1][warp] = mine;
            meet_some<CONSUMERS>();
            if (warp == 0) {
                mine = over_lanes<WARPS>(lanes[row & 1][lane % WARPS], CHUNKS * EACH * 128.0f);
                if (lane == 0) tell(&parts[(size_t)row * gridDim.x + blockIdx.x], mine);
            }
            mine = {0.0f, 0.0f};
        }
    };
#pragma unroll
    for (int t = 0; t < LAG; ++t)
        if (t < all) look(t % CHUNKS, t / CHUNKS);
    for (int row = 0; row < rows; ++row) {
        wait(&ready[row & 1], (row >> 1) & 1);
        const Spread s = whole[row & 1];
        float4* to = reinterpret_cast<float4*>(y + row * columns + mine_at) + tid;
#pragma unroll
        for (int c = 0; c < CHUNKS; ++c) {
            if (row * CHUNKS + c + LAG < all) look((c + LAG) % CHUNKS, row + (c + LAG) / CHUNKS);
            take();
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                const int k = (c * EACH + i) * CONSUMERS;
                put_out(&to[k], normed(v[i], s.mean, s.square, w[c * EACH + i], room[k + tid]));
            }
        }
    }
}
