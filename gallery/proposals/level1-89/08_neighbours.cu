// Small blocks in the order of memory, a tile each; a tile's sum is told to the others. REVERSE: places are counted from a row's end, and quads are turned.
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

extern "C" __global__ void __launch_bounds__(THREADS)
    scan_rows(const float* __restrict__ x, float* __restrict__ y, unsigned* sums, int across, int patience) {
    __shared__ float totals[TOTALS];
    const int tid = threadIdx.x, row = blockIdx.x / across, tile = blockIdx.x % across, columns = across * TILE;
    const size_t start = (size_t)row * columns + (REVERSE ? across - 1 - tile : tile) * TILE;
    const float4* from = reinterpret_cast<const float4*>(x + start);
    float4* to = reinterpret_cast<float4*>(y + start);
    float4 v[EACH];
    float left[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const int q = k * THREADS + tid;
        v[k] = turned(__ldg(&from[REVERSE ? TILE / 4 - 1 - q : q]));
    }
    scanned(v, left, totals);
    __syncthreads();
    float all = among_warps(left, totals);
    if (tid == 0) tell(&sums[blockIdx.x], all);
    sums += row * across;
    float carry = before(heard(sums, tile), sums, tile, x + (size_t)row * columns, columns, patience);
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const int q = k * THREADS + tid;
        to[REVERSE ? TILE / 4 - 1 - q : q] = turned(plus(v[k], carry + left[k]));
    }
}
