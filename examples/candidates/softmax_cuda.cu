// A block for each row: one pass for the running maximum and the sum that belongs to it, one to write.
struct Partial {
    float largest, sum;
};

__device__ __forceinline__ Partial joined(Partial a, Partial b) {
    float largest = fmaxf(a.largest, b.largest);
    if (largest == -INFINITY) return {largest, 0.0f};
    return {largest, a.sum * __expf(a.largest - largest) + b.sum * __expf(b.largest - largest)};
}

__device__ __forceinline__ Partial over_warp(Partial mine) {
    for (int step = 16; step; step /= 2) {
        Partial other = {__shfl_xor_sync(0xffffffffu, mine.largest, step), __shfl_xor_sync(0xffffffffu, mine.sum, step)};
        mine = joined(mine, other);
    }
    return mine;
}

extern "C" __global__ void __launch_bounds__(BLOCK) softmax(const float* __restrict__ x, float* __restrict__ y, int n) {
    __shared__ Partial partials[BLOCK / 32];
    const float* from = x + (size_t)blockIdx.x * n;
    float* to = y + (size_t)blockIdx.x * n;

    Partial mine = {-INFINITY, 0.0f};
    for (int i = threadIdx.x; i < n; i += BLOCK) mine = joined(mine, {from[i], 1.0f});
    mine = over_warp(mine);
    if (threadIdx.x % 32 == 0) partials[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x < 32) {
        mine = threadIdx.x < BLOCK / 32 ? partials[threadIdx.x] : Partial{-INFINITY, 0.0f};
        mine = over_warp(mine);
        if (threadIdx.x == 0) partials[0] = mine;
    }
    __syncthreads();
    Partial whole = partials[0];
    float scale = 1.0f / whole.sum;
    for (int i = threadIdx.x; i < n; i += BLOCK) to[i] = __expf(from[i] - whole.largest) * scale;
}
