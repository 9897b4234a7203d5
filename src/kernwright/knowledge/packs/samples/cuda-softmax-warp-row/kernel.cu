// HELD values a lane are an array that the compiler keeps in registers, because every loop over it is unrolled.
template <int HELD>
__device__ __forceinline__ void softmax(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;  // whole warps leave, so that the shuffles below still have all their lanes
    const float* from = x + (size_t)row * cols;
    float held[HELD], top = -INFINITY, sum = 0.0f;
#pragma unroll
    for (int i = 0; i < HELD; ++i) {
        int column = i * 32 + lane;
        held[i] = column < cols ? from[column] : -INFINITY;
        top = fmaxf(top, held[i]);
    }
#pragma unroll
    for (int step = 16; step; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
#pragma unroll
    for (int i = 0; i < HELD; ++i) {
        held[i] = __expf(held[i] - top);
        sum += held[i];
    }
#pragma unroll
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    float scale = 1.0f / sum;
    float* to = y + (size_t)row * cols;
#pragma unroll
    for (int i = 0; i < HELD; ++i) {
        int column = i * 32 + lane;
        if (column < cols) to[column] = held[i] * scale;
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) softmax_4(const float* x, float* y, int rows, int cols) {
    softmax<4>(x, y, rows, cols);
}
extern "C" __global__ void __launch_bounds__(32 * WARPS) softmax_8(const float* x, float* y, int rows, int cols) {
    softmax<8>(x, y, rows, cols);
}
extern "C" __global__ void __launch_bounds__(32 * WARPS) softmax_16(const float* x, float* y, int rows, int cols) {
    softmax<16>(x, y, rows, cols);
}
extern "C" __global__ void __launch_bounds__(32 * WARPS) softmax_32(const float* x, float* y, int rows, int cols) {
    softmax<32>(x, y, rows, cols);
}
