// Depthwise 3 x 3 without padding: a band of ROWS + 2 rows in shared memory, results behind it.
extern __shared__ __align__(16) float band[];

extern "C" __global__ void __launch_bounds__(THREADS) depthwise(const float* __restrict__ x,
                                                                const float* __restrict__ weight,
                                                                const float* __restrict__ bias, float* __restrict__ y,
                                                                int channels, int height, int width, int strips) {
    size_t plane = blockIdx.x / strips;
    int first = blockIdx.x % strips * ROWS, channel = int(plane % channels);
    int out_height = height - 2, out_width = width - 2;
    x += plane * height * width;
    y += plane * out_height * out_width;
    int lines = min(ROWS + 2, height - first);
    const float4* from = reinterpret_cast<const float4*>(x + (size_t)first * width);
#pragma unroll 4
    for (int i = threadIdx.x; i < lines * (width / 4); i += THREADS) reinterpret_cast<float4*>(band)[i] = __ldg(from + i);
    float w[9], shift = bias ? bias[channel] : 0.0f;
#pragma unroll
    for (int i = 0; i < 9; ++i) w[i] = weight[channel * 9 + i];
    // Results lie there at their place within 16 bytes.
    float* to = y + (size_t)first * out_width;
    int phase = int(reinterpret_cast<size_t>(to) / 4 % 4), count = (lines - 2) * out_width;
    float* staged = band + (ROWS + 2) * width + phase;
    __syncthreads();
    for (int col = threadIdx.x; col < out_width; col += THREADS) {
        float here = 0, next = 0;
#pragma unroll
        for (int line = 0; line < ROWS + 2; ++line) {
            if (line >= lines) break;
            const float* at = band + line * width + col;
            float a = at[0], b = at[1], c = at[2];
            if (line >= 2) staged[(line - 2) * out_width + col] = here + (a * w[6] + b * w[7] + c * w[8]);
            here = next + (a * w[3] + b * w[4] + c * w[5]);
            next = shift + a * w[0] + b * w[1] + c * w[2];
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
