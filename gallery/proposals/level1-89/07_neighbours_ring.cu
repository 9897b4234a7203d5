// All blocks work on neighbouring tiles, which come by bulk copies; a tile's sum is told to the others. REVERSE: places are counted from a row's end, and quads are turned.
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
#define WARPS (THREADS / 32)
#define EACH (TILE / 4 / THREADS)
#define TOTALS (EACH * WARPS)
static_assert(TOTALS <= 32, "a lane holds one total");

__device__ __forceinline__ float4 turned(float4 v) { return REVERSE ? make_float4(v.w, v.z, v.y, v.x) : v; }

// A tile's sum is one 4-byte store; all bits set means that it is not there yet.
__device__ __forceinline__ void tell(unsigned* to, float sum) {
    unsigned word = __float_as_uint(sum);
    *(volatile unsigned*)to = word == ~0u ? 0x7fffffffu : word;
}

__device__ __forceinline__ unsigned heard(const unsigned* sums, int tile) {
    const int lane = threadIdx.x % 32;
    return lane < tile ? *(const volatile unsigned*)&sums[lane] : 0u;
}

// The sum of all tiles of a row before this one. Who has waited too long reads them: nothing can hang.
__device__ __forceinline__ float before(unsigned word, const unsigned* sums, int tile, const float* row, int columns,
                                        int patience) {
    const int lane = threadIdx.x % 32;
    for (int tries = 0; !__all_sync(0xffffffffu, word != ~0u) && tries < patience; ++tries) word = heard(sums, tile);
    float sum = __uint_as_float(word);
    if (!__all_sync(0xffffffffu, word != ~0u)) {
        sum = 0.0f;
#pragma unroll 1
        for (int at = lane; at < tile * TILE; at += 32) sum += row[REVERSE ? columns - 1 - at : at];
    }
#pragma unroll
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    return sum;
}

// Quads of a thread become running sums within their warp's 128 numbers; returned is what comes before each of them.
__device__ __forceinline__ void scanned(float4* v, float* left, float* totals) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        v[k].y += v[k].x;
        v[k].z += v[k].y;
        v[k].w += v[k].z;
        sum[k] = v[k].w;
    }
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            float other = __shfl_up_sync(0xffffffffu, sum[k], step);
            if (lane >= step) sum[k] += other;
        }
    }
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        if (lane == 31) totals[k * WARPS + warp] = sum[k];
        left[k] = __shfl_up_sync(0xffffffffu, sum[k], 1);
        if (lane == 0) left[k] = 0.0f;
    }
}

// Adds what earlier warps of the tile have; returns the sum of the tile.
__device__ __forceinline__ float among_warps(float* left, const float* totals) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float all = lane < TOTALS ? totals[lane] : 0.0f;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        float other = __shfl_up_sync(0xffffffffu, all, step);
        if (lane >= step) all += other;
    }
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const int previous = k * WARPS + warp - 1;
        float add = __shfl_sync(0xffffffffu, all, previous & 31);
        if (previous >= 0) left[k] += add;
    }
    return __shfl_sync(0xffffffffu, all, 31);
}
__device__ __forceinline__ float4 plus(float4 v, float add) {
    return make_float4(v.x + add, v.y + add, v.z + add, v.w + add);
}

extern "C" __global__ void __launch_bounds__(THREADS + 32, 1)
    scan_rows(const float* __restrict__ x, float* __restrict__ y, unsigned* sums, int tiles, int across, int patience) {
    extern __shared__ __align__(128) float4 ring[];
    __shared__ Barrier full[SLOTS], empty[SLOTS];
    __shared__ float totals[2][TOTALS];
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, columns = across * TILE;
    if (tid == 0) {
        for (int i = 0; i < SLOTS; ++i) {
            init(&full[i], 1);
            init(&empty[i], WARPS);
        }
        inits_seen();
    }
    __syncthreads();
    // Where a tile lies: those of REVERSE are counted from each row's end.
    auto place_of = [&](int tile) {
        const int row = tile / across, t = tile % across;
        return (size_t)row * columns + (REVERSE ? across - 1 - t : t) * TILE;
    };
    int slot = 0;
    unsigned round = 0;
    if (warp == WARPS) {
        if (lane == 0)
            for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
                if (round) wait(&empty[slot], (round & 1) ^ 1);
                expect(&full[slot], TILE * 4);
                bulk_load<LEAVES>(ring + slot * (TILE / 4), x + place_of(tile), TILE * 4, &full[slot]);
                if (++slot == SLOTS) slot = 0, ++round;
            }
        return;
    }
    float4 v[EACH], old[EACH];
    float left[EACH], old_left[EACH];
    int old_tile = -1, buffer = 0;
    for (int tile = blockIdx.x; old_tile >= 0 || tile < tiles; tile += gridDim.x, buffer ^= 1) {
        unsigned word = 0;
        if (old_tile >= 0) word = heard(sums + old_tile / across * across, old_tile % across);
        if (tile < tiles) {
            wait(&full[slot], round & 1);
#pragma unroll
            for (int k = 0; k < EACH; ++k) {
                const int q = k * THREADS + tid;
                v[k] = turned(ring[slot * (TILE / 4) + (REVERSE ? TILE / 4 - 1 - q : q)]);
            }
            __syncwarp();
            if (lane == 0) arrive(&empty[slot]);
            if (++slot == SLOTS) slot = 0, ++round;
            scanned(v, left, totals[buffer]);
            meet_some<THREADS>();
            float all = among_warps(left, totals[buffer]);
            if (tid == 0) tell(&sums[tile], all);
        }
        if (old_tile >= 0) {  // the tile before, whose neighbours have had time to tell
            const int row = old_tile / across;
            float carry = before(word, sums + row * across, old_tile % across, x + (size_t)row * columns, columns,
                                 patience);
            float* to = y + place_of(old_tile);
#pragma unroll
            for (int k = 0; k < EACH; ++k) {
                const int q = k * THREADS + tid;
                reinterpret_cast<float4*>(to)[REVERSE ? TILE / 4 - 1 - q : q] =
                    turned(plus(old[k], carry + old_left[k]));
            }
        }
        old_tile = tile < tiles ? tile : -1;
#pragma unroll
        for (int k = 0; k < EACH; ++k) old[k] = v[k], old_left[k] = left[k];
    }
}
