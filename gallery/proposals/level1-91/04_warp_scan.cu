// Cumulative sums of rows, a warp each. REVERSE: from the end; then places are counted from the end, and quads are turned.
constexpr int TILE = 128 * EACH;

__device__ __forceinline__ float4 turned(float4 v) { return REVERSE ? make_float4(v.w, v.z, v.y, v.x) : v; }

// The quad at place `at`, a multiple of four, zeros beyond the row.
__device__ __forceinline__ float4 fetched(const float* x, int at, int columns) {
    if (at >= columns) return make_float4(0, 0, 0, 0);
    return turned(__ldcs(reinterpret_cast<const float4*>(x + (REVERSE ? columns - 4 - at : at))));
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) scan_rows(const float* __restrict__ x, float* __restrict__ y,
                                                                   int rows, int columns) {
    const unsigned all = 0xffffffffu;
    int lane = threadIdx.x % 32, row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) return;
    x += (size_t)row * columns;
    y += (size_t)row * columns;
    float carry = 0;
    float4 value[EACH], coming[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) value[k] = fetched(x, 128 * k + 4 * lane, columns);
    for (int start = 0; start < columns; start += TILE) {
#pragma unroll
        for (int k = 0; k < EACH; ++k) coming[k] = fetched(x, start + TILE + 128 * k + 4 * lane, columns);
        float sum[EACH];
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            value[k].y += value[k].x;
            value[k].z += value[k].y;
            value[k].w += value[k].z;
            sum[k] = value[k].w;
        }
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
#pragma unroll
            for (int k = 0; k < EACH; ++k) {
                float other = __shfl_up_sync(all, sum[k], step);
                if (lane >= step) sum[k] += other;
            }
        }
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            float before = __shfl_up_sync(all, sum[k], 1), total = __shfl_sync(all, sum[k], 31);
            float add = lane ? carry + before : carry;
            int at = start + 128 * k + 4 * lane;
            float4 result = make_float4(value[k].x + add, value[k].y + add, value[k].z + add, value[k].w + add);
            if (at < columns)
                __stcs(reinterpret_cast<float4*>(y + (REVERSE ? columns - 4 - at : at)), turned(result));
            carry += total;
            value[k] = coming[k];
        }
    }
}
