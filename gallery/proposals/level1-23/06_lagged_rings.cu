// Chunks of x pass through a ring twice: for the statistics from memory, LAG rows later from L2 to be divided.
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
#define KEPT 8  // rows whose maximum and sum a block remembers, more than LAG

__device__ __forceinline__ float2 joined(float2 a, float2 b) {
    float top = fmaxf(a.x, b.x), shift = top == -INFINITY ? 0.0f : top;
    return make_float2(top, a.y * __expf(a.x - shift) + b.y * __expf(b.x - shift));
}

__device__ __forceinline__ float2 over_warp(float2 mine) {
#pragma unroll
    for (int step = 16; step; step /= 2) {
        float x = __shfl_xor_sync(0xffffffffu, mine.x, step), y = __shfl_xor_sync(0xffffffffu, mine.y, step);
        mine = joined(mine, make_float2(x, y));
    }
    return mine;
}

template <int FOURS>
__device__ __forceinline__ float2 taken(float2 mine, const float4* v) {
    float top = mine.x;
#pragma unroll
    for (int i = 0; i < FOURS; ++i) top = fmaxf(top, fmaxf(fmaxf(v[i].x, v[i].y), fmaxf(v[i].z, v[i].w)));
    const float shift = top == -INFINITY ? 0.0f : top;
    float sum = mine.y * __expf(mine.x - shift);
#pragma unroll
    for (int i = 0; i < FOURS; ++i)
        sum += (__expf(v[i].x - shift) + __expf(v[i].y - shift)) + (__expf(v[i].z - shift) + __expf(v[i].w - shift));
    return make_float2(top, sum);
}

// What a block knows of its part of a row is one 8-byte store; all bits set means that it is not there yet.
__device__ __forceinline__ void tell(unsigned long long* to, float2 s) {
    unsigned long long word = ((unsigned long long)__float_as_uint(s.x) << 32) | __float_as_uint(s.y);
    *(volatile unsigned long long*)to = word == ~0ull ? 0x7fffffff7fffffffull : word;
}

// One warp gathers all parts of a row; if they do not come, it goes through the row by itself.
__device__ __forceinline__ float2 gathered(const unsigned long long* parts, const float* row, int columns,
                                           int patience) {
    const int lane = threadIdx.x % 32;
    float2 mine = make_float2(-INFINITY, 0.0f);
    bool here = true;
    for (int i = lane; i < GROUP; i += 32) {
        unsigned long long word;
        int tries = 0;
        while ((word = *(const volatile unsigned long long*)&parts[i]) == ~0ull && ++tries < patience) __nanosleep(20);
        here = here && word != ~0ull;
        mine = joined(mine, make_float2(__uint_as_float((unsigned)(word >> 32)), __uint_as_float((unsigned)word)));
    }
    if (__all_sync(0xffffffffu, here)) return over_warp(mine);
    mine = make_float2(-INFINITY, 0.0f);
    const float4* all = reinterpret_cast<const float4*>(row);
#pragma unroll 1
    for (int i = lane; i < columns / 4; i += 32) {
        float4 v = __ldg(&all[i]);
        mine = taken<1>(mine, &v);
    }
    return over_warp(mine);
}

extern "C" __global__ void __launch_bounds__(CONSUMERS + 64, 1)
    softmax(const float* __restrict__ x, float* __restrict__ y, unsigned long long* parts, int rows, int chunks,
            int patience) {
    extern __shared__ __align__(128) float4 ring[];
    __shared__ Barrier full[SLOTS], empty[SLOTS], ready[KEPT];
    __shared__ float2 lanes[2][WARPS], whole[KEPT];
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    const int rank = blockIdx.x % GROUP, group = blockIdx.x / GROUP, groups = gridDim.x / GROUP;
    const int mine_rows = group < rows ? (rows - group + groups - 1) / groups : 0;
    const int part = chunks * CHUNK, columns = part * GROUP, all = mine_rows * chunks, lag = LAG * chunks;
    if (tid == 0) {
        for (int i = 0; i < SLOTS; ++i) {
            init(&full[i], 1);
            init(&empty[i], WARPS);
        }
        for (int i = 0; i < KEPT; ++i) init(&ready[i], 1);
        inits_seen();
    }
    __syncthreads();

    auto place_of = [&](int row) {
        return ((size_t)row * groups + group) * columns + (size_t)rank * part;
    };
    if (warp == WARPS) {  // asks for chunks: one for the statistics, then one that was seen LAG rows ago
        if (lane == 0) {
            int slot = 0, ahead_row = 0, ahead_chunk = 0, row = 0, chunk = 0;
            unsigned round = 0;
            for (int t = 0; t < all + lag; ++t) {
                if (t < all) {
                    if (round) wait(&empty[slot], (round & 1) ^ 1);
                    expect(&full[slot], CHUNK * 4);
                    bulk_load<0>(ring + slot * (CHUNK / 4), x + place_of(ahead_row) + ahead_chunk * CHUNK, CHUNK * 4,
                                 &full[slot]);
                    if (++slot == SLOTS) slot = 0, ++round;
                    if (++ahead_chunk == chunks) ahead_chunk = 0, ++ahead_row;
                }
                if (t >= lag) {
                    if (round) wait(&empty[slot], (round & 1) ^ 1);
                    expect(&full[slot], CHUNK * 4);
                    bulk_load<1>(ring + slot * (CHUNK / 4), x + place_of(row) + chunk * CHUNK, CHUNK * 4, &full[slot]);
                    if (++slot == SLOTS) slot = 0, ++round;
                    if (++chunk == chunks) chunk = 0, ++row;
                }
            }
        }
        return;
    }
    if (warp == WARPS + 1) {  // waits for the statistics of the other blocks, ahead of those who need them
        for (int row = 0; row < mine_rows; ++row) {
            const size_t r = (size_t)row * groups + group;
            float2 s = gathered(parts + r * GROUP, x + r * columns, columns, patience);
            if (lane == 0) {
                whole[row % KEPT] = make_float2(s.x, 1.0f / s.y);
                arrive(&ready[row % KEPT]);
            }
            __syncwarp();
        }
        return;
    }

    int slot = 0;
    unsigned parity = 0;
    float4 v[EACH];
    auto take = [&]() {
        wait(&full[slot], parity);
#pragma unroll
        for (int i = 0; i < EACH; ++i) v[i] = ring[slot * (CHUNK / 4) + i * CONSUMERS + tid];
        __syncwarp();
        if (lane == 0) arrive(&empty[slot]);
        if (++slot == SLOTS) slot = 0, parity ^= 1;
    };
    for (int step = 0; step < mine_rows + LAG; ++step) {
        const int row = step - LAG;
        const bool looks = step < mine_rows, writes = row >= 0;
        float2 mine = make_float2(-INFINITY, 0.0f), s = make_float2(0.0f, 0.0f);
        float4* to = reinterpret_cast<float4*>(y + place_of(writes ? row : 0)) + tid;
        if (writes) {
            wait(&ready[row % KEPT], (row / KEPT) & 1);
            s = whole[row % KEPT];
        }
        for (int c = 0; c < chunks; ++c) {
            if (looks) {
                take();
                mine = taken<EACH>(mine, v);
            }
            if (writes) {
                take();
#pragma unroll
                for (int i = 0; i < EACH; ++i) {
                    // A row of nothing but minus infinity is no number in each place, as with PyTorch.
                    v[i].x = __expf(v[i].x - s.x) * s.y;
                    v[i].y = __expf(v[i].y - s.x) * s.y;
                    v[i].z = __expf(v[i].z - s.x) * s.y;
                    v[i].w = __expf(v[i].w - s.x) * s.y;
                    if (STREAMED)
                        __stcs(&to[c * (CHUNK / 4) + i * CONSUMERS], v[i]);
                    else
                        to[c * (CHUNK / 4) + i * CONSUMERS] = v[i];
                }
            }
        }
        if (looks) {
            mine = over_warp(mine);
            if (lane == 0) lanes[step & 1][warp] = mine;
            meet_some<CONSUMERS>();
            if (warp == 0) {
                mine = over_warp(lane < WARPS ? lanes[step & 1][lane] : make_float2(-INFINITY, 0.0f));
                if (lane == 0) tell(&parts[((size_t)step * groups + group) * GROUP + rank], mine);
            }
        }
    }
}
