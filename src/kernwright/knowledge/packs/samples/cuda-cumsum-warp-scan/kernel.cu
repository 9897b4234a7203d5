__device__ __forceinline__ float scanned(float v, int lane) {
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        float before = __shfl_up_sync(0xffffffffu, v, step);
        if (lane >= step) v += before;
    }
    return v;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    masked_cumsum(const float* __restrict__ x, const unsigned char* __restrict__ mask, float* __restrict__ y, int cols) {
    __shared__ float moved[BLOCK * EACH];  // loads and stores by neighbouring threads, sums by neighbouring elements
    __shared__ float totals[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    size_t start = (size_t)blockIdx.x * cols;
    float carry = 0.0f;
    for (int first = 0; first < cols; first += BLOCK * EACH) {
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            int at = first + i * BLOCK + threadIdx.x;
            moved[i * BLOCK + threadIdx.x] = at < cols && mask[start + at] ? x[start + at] : 0.0f;
        }
        __syncthreads();
        float own[EACH];
#pragma unroll
        for (int i = 0; i < EACH; ++i) own[i] = moved[threadIdx.x * EACH + i] + (i ? own[i - 1] : 0.0f);
        float upto = scanned(own[EACH - 1], lane);
        if (lane == 31) totals[warp] = upto;
        __syncthreads();
        // Each warp scans all totals for itself, which saves a barrier and a round through shared memory.
        float all = scanned(lane < BLOCK / 32 ? totals[lane] : 0.0f, lane);
        float earlier = __shfl_sync(0xffffffffu, all, warp ? warp - 1 : 0);
        float before = carry + (warp ? earlier : 0.0f) + upto - own[EACH - 1];
#pragma unroll
        for (int i = 0; i < EACH; ++i) moved[threadIdx.x * EACH + i] = before + own[i];
        carry += __shfl_sync(0xffffffffu, all, 31);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            int at = first + i * BLOCK + threadIdx.x;
            if (at < cols) y[start + at] = moved[i * BLOCK + threadIdx.x];
        }
        __syncthreads();  // `moved` and `totals` are written again
    }
}
