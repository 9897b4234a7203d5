// EACH x EACH sums a thread: 2 * EACH values from shared memory serve EACH * EACH multiply-adds.
#define SIDE (TILE / EACH)
#define THREADS (SIDE * SIDE)
#define LOADS (TILE * DEPTH / THREADS)

// The second bound, 1, lets ptxas take the registers that the sums need; without it it aimed at more blocks, and spilled.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    linear_relu(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                float* __restrict__ y, int rows, int hidden, int features) {
    // Two buffers: while one is multiplied, the other is filled, so that a step needs one barrier. Both operands lie
    // with k first, so that a thread's values stand side by side; the extra column spreads the stores over the banks.
    __shared__ float left[2][DEPTH][TILE + 4], right[2][DEPTH][TILE + 4];
    int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    int row0 = blockIdx.y * TILE, column0 = blockIdx.x * TILE;
    float sums[EACH][EACH] = {}, next_left[LOADS], next_right[LOADS];

    auto fetch = [&](int start) {
#pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            int at = i * THREADS + threadIdx.x, k = start + at % DEPTH, r = row0 + at / DEPTH, c = column0 + at / DEPTH;
            next_left[i] = r < rows && k < features ? x[(size_t)r * features + k] : 0.0f;
            next_right[i] = c < hidden && k < features ? weight[(size_t)c * features + k] : 0.0f;
        }
    };
    auto store = [&](int buffer) {
#pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            int at = i * THREADS + threadIdx.x;
            left[buffer][at % DEPTH][at / DEPTH] = next_left[i];
            right[buffer][at % DEPTH][at / DEPTH] = next_right[i];
        }
    };

    fetch(0);
    store(0);
    __syncthreads();
    int buffer = 0;
    for (int start = 0; start < features; start += DEPTH) {
        bool more = start + DEPTH < features;
        if (more) fetch(start + DEPTH);  // these loads are under way during the multiplications
#pragma unroll 4
        for (int k = 0; k < DEPTH; ++k) {
            float a[EACH], b[EACH];
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                a[i] = left[buffer][k][ty * EACH + i];
                b[i] = right[buffer][k][i * SIDE + tx];  // neighbours read neighbouring banks
            }
#pragma unroll
            for (int i = 0; i < EACH; ++i)
#pragma unroll
                for (int j = 0; j < EACH; ++j) sums[i][j] += a[i] * b[j];
        }
        if (more) store(buffer ^ 1);
        __syncthreads();
        buffer ^= 1;
    }
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        int row = row0 + ty * EACH + i;
#pragma unroll
        for (int j = 0; j < EACH; ++j) {
            int column = column0 + j * SIDE + tx;
            if (row < rows && column < hidden)
                y[(size_t)row * hidden + column] = fmaxf(sums[i][j] + bias[column], 0.0f);
        }
    }
}
