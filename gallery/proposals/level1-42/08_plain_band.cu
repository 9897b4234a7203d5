// Maxima of 4 x 4 with padding 1: a band of ROWS + 3 rows in shared memory, results in shared memory behind it.
extern __shared__ __align__(16) float band[];

// A NaN stays one, as in PyTorch. PTX is "asm"; the CPU shim, which knows none, takes the other branch.
__device__ __forceinline__ float larger(float a, float b) {
#ifdef KERNWRIGHT_ARCH
    return a > b || a != a ? a : b;
#else
    float c;
    PTX("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    return c;
#endif
}

// A row of the band has `width` numbers and four more: [4 + width] = minus infinity on both sides of it, since the
// number before a row is the last of the padding of the row before it.
extern "C" __global__ void __launch_bounds__(THREADS) pool(const float* __restrict__ x, float* __restrict__ y,
                                                           int height, int width, int strips) {
    size_t plane = blockIdx.x / strips;
    int first = blockIdx.x % strips * ROWS, pitch = width + 4, quads = pitch / 4;
    int out_height = height - 1, out_width = width - 1;
    const float lowest = -INFINITY;
    x += plane * height * width;
    y += plane * out_height * out_width;
    for (int i = threadIdx.x; i < (ROWS + 3) * quads; i += THREADS) {
        int line = i / quads, quad = i % quads, row = first - 1 + line;
        float4 v = make_float4(lowest, lowest, lowest, lowest);
        if (row >= 0 && row < height && quad > 0)
            v = __ldg(reinterpret_cast<const float4*>(x + (size_t)row * width) + quad - 1);
        reinterpret_cast<float4*>(band)[i] = v;
    }
    // Results lie there at their place within 16 bytes.
    float* to = y + (size_t)first * out_width;
    int phase = int(reinterpret_cast<size_t>(to) / 4 % 4), count = min(ROWS, out_height - first) * out_width;
    float* staged = band + (ROWS + 3) * pitch + phase;
    __syncthreads();
    for (int col = threadIdx.x; col < out_width; col += THREADS) {
        // Column col - 1 lies at 4 + col - 1; the last window reaches column `width`, which is padding.
        const float* at = band + 3 + col;
        bool last = col + 2 >= width;
        float a = 0, b = 0, c = 0;
#pragma unroll
        for (int line = 0; line < ROWS + 3; ++line) {
            const float* here = at + line * pitch;
            float d = larger(larger(here[0], here[1]), larger(here[2], last ? lowest : here[3]));
            int row = first + line - 3;
            if (line >= 3 && row < out_height) staged[(line - 3) * out_width + col] = larger(larger(a, b), larger(c, d));
            a = b;
            b = c;
            c = d;
        }
    }
    __syncthreads();
    int head = min(count, (4 - phase) % 4), body = (count - head) / 4;
    if (threadIdx.x < head) to[threadIdx.x] = staged[threadIdx.x];
#pragma unroll 4
    for (int i = threadIdx.x; i < body; i += THREADS)
        (reinterpret_cast<float4*>(to + head) + i)[0] = reinterpret_cast<const float4*>(staged + head)[i];
    int rest = head + 4 * body + threadIdx.x;
    if (rest < count) to[rest] = staged[rest];
}
