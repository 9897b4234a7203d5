// Cumulative sums of rows. REVERSE: from the end; then places are counted from the end, and quads are turned.
constexpr int WARPS = THREADS / 32, TOTALS = WARPS * EACH, TILE = THREADS * EACH * 4;
static_assert(TOTALS <= 64, "a lane holds at most two totals");

__device__ __forceinline__ float4 turned(float4 v) { return REVERSE ? make_float4(v.w, v.z, v.y, v.x) : v; }

// The quad at place `at`, a multiple of four, zeros beyond the row.
__device__ __forceinline__ float4 fetched(const float* x, int at, int columns) {
    if (at >= columns) return make_float4(0, 0, 0, 0);
    const float4* from = reinterpret_cast<const float4*>(x + (REVERSE ? columns - 4 - at : at));
    return turned(HINTS & 1 ? __ldcs(from) : __ldg(from));
}

__device__ __forceinline__ float inclusive(float v, int lane) {
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        float other = __shfl_up_sync(0xffffffffu, v, step);
        if (lane >= step) v += other;
    }
    return v;
}

extern "C" __global__ void __launch_bounds__(THREADS) scan_rows(const float* __restrict__ x, float* __restrict__ y,
                                                                int columns) {
    __shared__ float totals[2][64];
    const unsigned all = 0xffffffffu;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, buffer = 0;
    x += (size_t)blockIdx.x * columns;
    y += (size_t)blockIdx.x * columns;
    float carry = 0;
    float4 value[EACH], coming[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) value[k] = fetched(x, 4 * (k * THREADS + threadIdx.x), columns);
    for (int start = 0; start < columns; start += TILE) {
#pragma unroll
        for (int k = 0; k < EACH; ++k) coming[k] = fetched(x, start + TILE + 4 * (k * THREADS + threadIdx.x), columns);
        float before[EACH];  // what this thread's quads begin with, within the warp
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            value[k].y += value[k].x;
            value[k].z += value[k].y;
            value[k].w += value[k].z;
            float sum = inclusive(value[k].w, lane);
            if (lane == 31) totals[buffer][k * WARPS + warp] = sum;
            before[k] = __shfl_up_sync(all, sum, 1);
            if (lane == 0) before[k] = 0;
        }
        __syncthreads();
        float low = inclusive(lane < TOTALS ? totals[buffer][lane] : 0.0f, lane), high = 0;
        float all_low = __shfl_sync(all, low, 31);
        if (TOTALS > 32) high = inclusive(32 + lane < TOTALS ? totals[buffer][32 + lane] : 0.0f, lane) + all_low;
        float whole = TOTALS > 32 ? __shfl_sync(all, high, 31) : all_low;
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            int previous = k * WARPS + warp - 1;
            float from = __shfl_sync(all, low, previous & 31);
            if (TOTALS > 32) {
                float other = __shfl_sync(all, high, previous & 31);
                if (previous >= 32) from = other;
            }
            float add = carry + (previous < 0 ? 0.0f : from) + before[k];
            int at = start + 4 * (k * THREADS + threadIdx.x);
            float4 result = make_float4(value[k].x + add, value[k].y + add, value[k].z + add, value[k].w + add);
            float4* to = reinterpret_cast<float4*>(y + (REVERSE ? columns - 4 - at : at));
            if (at < columns) {
                if (HINTS & 2)
                    __stcs(to, turned(result));
                else
                    *to = turned(result);
            }
            value[k] = coming[k];
        }
        carry += whole;
        buffer ^= 1;
    }
}
