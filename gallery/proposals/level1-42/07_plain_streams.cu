// Maxima of 4 x 4 with padding 1 on rows of 512: a warp has whole rows, a lane four quads of each; no barriers.
constexpr int WIDTH = 512, OUT_WIDTH = 511;

// A NaN stays one, as in PyTorch.
__device__ __forceinline__ float larger(float a, float b) {
#ifdef KERNWRIGHT_ARCH
    return a > b || a != a ? a : b;
#else
    float c;
    PTX("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    return c;
#endif
}

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

// The largest of columns col - 1 to col + 2 for each of a lane's columns.
__device__ __forceinline__ void across(float (&m)[16], const float4 (&v)[4], int lane) {
    const unsigned all = 0xffffffffu;
    const float lowest = -INFINITY;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        // The last lane's number before serves the first lane one quad on, and so on.
        float before = __shfl_sync(all, lane == 31 ? (i > 0 ? v[i > 0 ? i - 1 : 0].w : lowest) : v[i].w, (lane + 31) % 32);
        float next = __shfl_sync(all, lane == 0 ? (i < 3 ? v[i < 3 ? i + 1 : 3].x : lowest) : v[i].x, (lane + 1) % 32);
        float after = __shfl_sync(all, lane == 0 ? (i < 3 ? v[i < 3 ? i + 1 : 3].y : lowest) : v[i].y, (lane + 1) % 32);
        float a = larger(before, v[i].x), b = larger(v[i].x, v[i].y), c = larger(v[i].y, v[i].z),
              d = larger(v[i].z, v[i].w), e = larger(v[i].w, next), f = larger(next, after);
        m[i * 4] = larger(a, c), m[i * 4 + 1] = larger(b, d), m[i * 4 + 2] = larger(c, e), m[i * 4 + 3] = larger(d, f);
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) pool(const float* __restrict__ x, float* __restrict__ y,
                                                              int height, int strips, int warps) {
    __shared__ __align__(16) float buffers[WARPS][WIDTH + 4];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, mine = blockIdx.x * WARPS + warp;
    if (mine >= warps) return;
    int first = mine % strips * ROWS, out_height = height - 1, end = min(out_height, first + ROWS);
    size_t plane = mine / strips;
    x += plane * height * WIDTH;
    float* to = y + plane * out_height * OUT_WIDTH + (size_t)first * OUT_WIDTH;
    float* buffer = buffers[warp];
    int held = 0;
    float ab[16], bc[16], c[16], d[16];
    float4 v[4], ahead[4];
    load_row(v, x, first - 1, height, -INFINITY, lane);
    across(d, v, lane);
    load_row(v, x, first, height, -INFINITY, lane);
    across(bc, v, lane);
    load_row(v, x, first + 1, height, -INFINITY, lane);
    load_row(ahead, x, first + 2, height, -INFINITY, lane);
    across(c, v, lane);
#pragma unroll
    for (int i = 0; i < 16; ++i) ab[i] = larger(d[i], bc[i]), bc[i] = larger(bc[i], c[i]);
#pragma unroll 1
    for (int row = first; row < end; ++row) {
#pragma unroll
        for (int i = 0; i < 4; ++i) v[i] = ahead[i];
        load_row(ahead, x, row + 1 < end ? row + 3 : height, height, -INFINITY, lane);
        across(d, v, lane);
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            float cd = larger(c[i], d[i]), value = larger(ab[i], cd);
            c[i] = d[i], ab[i] = bc[i], bc[i] = cd, d[i] = value;
        }
        if (row == first)
            begin_at(buffer, to, held, d, lane);
        else
            append(buffer, to, held, d, lane);
        __syncwarp();
    }
    if (lane < held) to[lane] = buffer[lane];
}
