// Depthwise 3 x 3 without padding on rows of 512: a warp has whole rows, a lane four quads of each; no barriers.
constexpr int WIDTH = 512, OUT_WIDTH = 510;

// A warp's outputs, a stream of contiguous numbers: `held` of them, not yet stored, lie before the next ones.
__device__ __forceinline__ void append(float* buffer, float*& to, int& held, const float (&v)[16], int lane) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        int col = i / 4 * 128 + lane * 4 + i % 4;
        if (col < OUT_WIDTH) buffer[held + col] = v[i];
    }
    __syncwarp();
    int count = held + OUT_WIDTH, quads = count / 4, rest = count % 4;
    float left = lane < rest ? buffer[quads * 4 + lane] : 0.0f;
#pragma unroll
    for (int i = 0; i < 4; ++i)
        if (i * 32 + lane < quads)
            (reinterpret_cast<float4*>(to) + i * 32 + lane)[0] = reinterpret_cast<const float4*>(buffer)[i * 32 + lane];
    if (128 + lane < quads)
        (reinterpret_cast<float4*>(to) + 128 + lane)[0] = reinterpret_cast<const float4*>(buffer)[128 + lane];
    __syncwarp();
    if (lane < rest) buffer[lane] = left;
    to += quads * 4;
    held = rest;
}

// Numbers before the first aligned place are stored one by one; afterwards `to` is aligned.
__device__ __forceinline__ void begin_at(float* buffer, float*& to, int& held, const float (&v)[16], int lane) {
    int head = (4 - int(reinterpret_cast<size_t>(to) / 4 % 4)) % 4, count = OUT_WIDTH - head, rest = count % 4;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        int col = i / 4 * 128 + lane * 4 + i % 4;
        if (col < head)
            to[col] = v[i];
        else if (col < OUT_WIDTH)
            buffer[col - head] = v[i];
    }
    __syncwarp();
    float left = lane < rest ? buffer[count - rest + lane] : 0.0f;
    to += head;
    for (int i = lane; i < count / 4; i += 32)
        (reinterpret_cast<float4*>(to) + i)[0] = reinterpret_cast<const float4*>(buffer)[i];
    __syncwarp();
    if (lane < rest) buffer[lane] = left;
    to += count - rest;
    held = rest;
}

__device__ __forceinline__ void load_row(float4 (&v)[4], const float* x, int row, int height, float nothing, int lane) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
        v[i] = row >= 0 && row < height ? __ldg(reinterpret_cast<const float4*>(x + (size_t)row * WIDTH) + i * 32 + lane)
                                        : make_float4(nothing, nothing, nothing, nothing);
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) depthwise(
    const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ y,
    int channels, int height, int strips, int warps) {
    __shared__ __align__(16) float buffers[WARPS][WIDTH + 4];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, mine = blockIdx.x * WARPS + warp;
    if (mine >= warps) return;
    int first = mine % strips * ROWS, out_height = height - 2, end = min(out_height, first + ROWS);
    size_t plane = mine / strips;
    x += plane * height * WIDTH;
    float* to = y + plane * out_height * OUT_WIDTH + (size_t)first * OUT_WIDTH;
    float* buffer = buffers[warp];
    int held = 0;
    int channel = int(plane % channels);
    float w[9], shift = bias ? bias[channel] : 0.0f;
#pragma unroll
    for (int i = 0; i < 9; ++i) w[i] = weight[channel * 9 + i];
    float here[16] = {}, later[16] = {}, value[16];
    float4 v[4], ahead[4], behind[4];
    load_row(ahead, x, first, height, 0.0f, lane);
    load_row(behind, x, first + 1, height, 0.0f, lane);
#pragma unroll 1
    for (int row = first; row < end + 2; ++row) {
#pragma unroll
        for (int i = 0; i < 4; ++i) v[i] = ahead[i], ahead[i] = behind[i];
        load_row(behind, x, row + 2 < end + 2 ? row + 2 : height, height, 0.0f, lane);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            // The first lane's numbers of the next quad serve the last lane.
            const float4& u = v[i < 3 ? i + 1 : 3];
            float next = __shfl_sync(0xffffffffu, lane == 0 ? u.x : v[i].x, (lane + 1) % 32);
            float after = __shfl_sync(0xffffffffu, lane == 0 ? u.y : v[i].y, (lane + 1) % 32);
            float s[6] = {v[i].x, v[i].y, v[i].z, v[i].w, next, after};
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                int k = i * 4 + j;
                value[k] = here[k] + (s[j] * w[6] + s[j + 1] * w[7] + s[j + 2] * w[8]);
                here[k] = later[k] + (s[j] * w[3] + s[j + 1] * w[4] + s[j + 2] * w[5]);
                later[k] = shift + s[j] * w[0] + s[j + 1] * w[1] + s[j + 2] * w[2];
            }
        }
        if (row < first + 2) continue;
        if (row == first + 2)
            begin_at(buffer, to, held, value, lane);
        else
            append(buffer, to, held, value, lane);
        __syncwarp();
    }
    if (lane < held) to[lane] = buffer[lane];
}
