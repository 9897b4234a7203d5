// Means over a transposed convolution from sums of its input and its weights; the last block to arrive ends the work.
extern __shared__ __align__(16) float of_x[];

__device__ __forceinline__ float over_warp(float v) {
#pragma unroll
    for (int step = 16; step; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

extern "C" __global__ void __launch_bounds__(THREADS) pooled(
    const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
    const float* __restrict__ gamma, const float* __restrict__ beta, const float* __restrict__ mean,
    const float* __restrict__ variance, float* sums, unsigned* ticket, float* __restrict__ y, int n, int c_in, int c_out,
    int length, int taps, float count, float scale, float eps) {
    __shared__ float totals[THREADS / 32];
    __shared__ bool last;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int row = blockIdx.x / SPLIT, part = blockIdx.x % SPLIT, quads = length / 4;
    int share = (quads + SPLIT - 1) / SPLIT, end = min(quads, (part + 1) * share);
    float* w_sums = sums + n * c_in * SPLIT;

    // A share of one row of the input.
    const float4* from = reinterpret_cast<const float4*>(x + (size_t)row * length);
    float a = 0, b = 0, c = 0, d = 0;
#pragma unroll 8
    for (int i = part * share + threadIdx.x; i < end; i += THREADS) {
        float4 v = __ldcs(from + i);
        a += v.x, b += v.y, c += v.z, d += v.w;
    }
    float total = over_warp((a + b) + (c + d));
    if (lane == 0) totals[warp] = total;

    // A share of the filters, a warp for each.
    for (int i = blockIdx.x * (THREADS / 32) + warp; i < c_in * c_out; i += gridDim.x * (THREADS / 32)) {
        float sum = 0;
        for (int tap = lane; tap < taps; tap += 32) sum += weight[(size_t)i * taps + tap];
        sum = over_warp(sum);
        if (lane == 0) w_sums[i] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < THREADS / 32; ++i) sum += totals[i];
        sums[blockIdx.x] = sum;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
        if (last) *ticket = 0;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();

    for (int i = threadIdx.x; i < n * c_in; i += THREADS) {
        float sum = 0;
        for (int k = 0; k < SPLIT; ++k) sum += __ldcg(sums + i * SPLIT + k);
        of_x[i] = sum;
    }
    __syncthreads();
    // A thread takes one channel of several samples, so that a sum of weights is read once for all of them.
    constexpr int MANY = 8;
    int groups = (n + MANY - 1) / MANY;
    for (int i = threadIdx.x; i < c_out * groups; i += THREADS) {
        int co = i % c_out, first = i / c_out * MANY;
        float sum[MANY] = {};
#pragma unroll 4
        for (int ci = 0; ci < c_in; ++ci) {
            float w = __ldcg(w_sums + ci * c_out + co);
#pragma unroll
            for (int k = 0; k < MANY; ++k) sum[k] += w * of_x[min(first + k, n - 1) * c_in + ci];
        }
        float factor = gamma[co] / sqrtf(variance[co] + eps), shift = bias ? bias[co] : 0.0f;
#pragma unroll
        for (int k = 0; k < MANY; ++k)
            if (first + k < n)
                y[(first + k) * c_out + co] = ((sum[k] / count + shift) * scale - mean[co]) * factor + beta[co];
    }
}
