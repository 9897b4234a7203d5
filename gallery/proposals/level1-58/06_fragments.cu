// Transposed convolution 3 x 5 x 7, 32 -> 16 channels, stride 1, no padding, rows of 64: products of float16 parts.
#include <cuda_fp16.h>

constexpr int KD = 3, KH = 5, KW = 7, IN = 32, OUT = 16, WIDTH = 64, OUT_WIDTH = WIDTH + KW - 1;
constexpr int WARPS = 4, THREADS = 32 * WARPS, COLUMNS = 16 * WARPS, PLACES = COLUMNS + 2 * (KW - 1), LINES = ROWS + KH - 1;
constexpr int STAGE = LINES * PLACES * 32;  // halves: a place is 16 channels, large and small parts
constexpr int PARTS = 1024;
static_assert(PLACES % 2 == 0 && COLUMNS <= OUT_WIDTH, "lines start at 128 bytes; columns come from two slices at most");

extern __shared__ __align__(128) __half places[];

// PTX is "asm"; the CPU shim, which knows none, takes the other branches.
#ifdef KERNWRIGHT_ARCH
__shared__ unsigned long long lane_at[WARPS][32];
__shared__ unsigned lane_has[WARPS][32][6];
#endif

__device__ __forceinline__ void load_matrices(unsigned (&a)[4], const __half* at) {
#ifdef KERNWRIGHT_ARCH
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    lane_at[warp][lane] = reinterpret_cast<unsigned long long>(at);
    __syncwarp();
    for (int i = 0; i < 4; ++i)
        a[i] = reinterpret_cast<const unsigned*>(lane_at[warp][i * 8 + lane / 4])[lane % 4];
    __syncwarp();
#else
    PTX volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(at)))
                 : "memory");
#endif
}

// c (16 x 8) += a (16 x 16) b (16 x 8)
__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#ifdef KERNWRIGHT_ARCH
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = 0; i < 4; ++i) lane_has[warp][lane][i] = a[i];
    lane_has[warp][lane][4] = b0, lane_has[warp][lane][5] = b1;
    __syncwarp();
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 16; ++k) {
            int row = lane / 4 + i / 2 * 8, col = lane % 4 * 2 + i % 2, pair = k % 8 / 2, high = k / 8;
            unsigned u = lane_has[warp][row % 8 * 4 + pair][row / 8 + 2 * high], v = lane_has[warp][col * 4 + pair][4 + high];
            __half2 p = reinterpret_cast<__half2&>(u), q = reinterpret_cast<__half2&>(v);
            c[i] += k % 2 ? __high2float(p) * __high2float(q) : __low2float(p) * __low2float(q);
        }
    __syncwarp();
#else
    PTX volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// 16 bytes, or zeros.
__device__ __forceinline__ void copy(__half* to, const __half* from, bool there) {
#ifdef KERNWRIGHT_ARCH
    *reinterpret_cast<uint4*>(to) = there ? *reinterpret_cast<const uint4*>(from) : make_uint4(0, 0, 0, 0);
#else
    PTX volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from), "r"(there ? 16 : 0)
                 : "memory");
#endif
}

__device__ __forceinline__ void commit() {
#ifndef KERNWRIGHT_ARCH
    PTX volatile("cp.async.commit_group;" ::: "memory");
#endif
}

template <int LEFT>
__device__ __forceinline__ void wait_for_copies() {
#ifndef KERNWRIGHT_ARCH
    PTX volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
#endif
}

// Of the largest magnitude; no less than -100, so that its factor is a float.
__device__ __forceinline__ int exponent_of(float largest) { return max((__float_as_int(largest) >> 23) - 127, -100); }
__device__ __forceinline__ float power(int exponent) { return __int_as_float((exponent + 127) << 23); }

__device__ __forceinline__ float largest_of_block(float v) {
    __shared__ float of_warps[32];
#pragma unroll
    for (int step = 16; step; step /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, step));
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (int i = 0; i < blockDim.x / 32; ++i) v = fmaxf(v, of_warps[i]);
    return v;
}

extern "C" __global__ void __launch_bounds__(256) largest(const float* __restrict__ x, float* __restrict__ parts,
                                                          int quads) {
    float most = 0;
#pragma unroll 8
    for (int i = blockIdx.x * 256 + threadIdx.x; i < quads; i += PARTS * 256) {
        float4 v = __ldg(reinterpret_cast<const float4*>(x) + i);
        most = fmaxf(most, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
    }
    most = largest_of_block(most);
    if (threadIdx.x == 0) parts[blockIdx.x] = most;
}

// (n, channels, plane) as (n, plane, channels / 16, parts, 16); four threads a place.
extern "C" __global__ void __launch_bounds__(256) pack(const float* __restrict__ x, const float* __restrict__ parts,
                                                       __half* __restrict__ packed, int plane, int count) {
    float most = 0;
    for (int i = threadIdx.x; i < PARTS; i += 256) most = fmaxf(most, parts[i]);
    float factor = power(14 - exponent_of(largest_of_block(most)));
    int mine = blockIdx.x * 256 + threadIdx.x, eight = mine % 4, place = mine / 4;
    if (place >= count) return;
    const float* from = x + (size_t)(place / plane * IN + eight * 8) * plane + place % plane;
    __align__(16) __half large[8], small[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        float v = __ldg(from + (size_t)i * plane) * factor;
        large[i] = __float2half_rn(v);
        small[i] = __float2half_rn(v - __half2float(large[i]));
    }
    uint4* to = reinterpret_cast<uint4*>(packed + (size_t)place * 64 + eight / 2 * 32 + eight % 2 * 8);
    to[0] = *reinterpret_cast<uint4*>(large);
    to[2] = *reinterpret_cast<uint4*>(small);
}

// A block a filter: its taps in the order in which lanes take them, [kd][half][kw][kh][part][lane][4], two halves each.
extern "C" __global__ void __launch_bounds__(256) pack_taps(const float* __restrict__ weight,
                                                            const float* __restrict__ parts, __half* __restrict__ taps,
                                                            float* __restrict__ factors) {
    constexpr int EACH = KD * KH * KW;
    int filter = blockIdx.x;
    float most = 0;
    for (int i = threadIdx.x; i < IN * EACH; i += 256)
        most = fmaxf(most, fabsf(weight[(i / EACH * OUT + filter) * EACH + i % EACH]));
    int exponent = exponent_of(largest_of_block(most));
    float factor = power(14 - exponent);
    __syncthreads();
    most = 0;
    for (int i = threadIdx.x; i < PARTS; i += 256) most = fmaxf(most, parts[i]);
    most = largest_of_block(most);
    if (threadIdx.x == 0) factors[filter] = power(exponent - 14), factors[OUT + filter] = power(exponent_of(most) - 14);
    for (int i = threadIdx.x; i < IN * EACH; i += 256) {
        int channel = i / EACH, kd = i % EACH / (KH * KW), kh = i % (KH * KW) / KW, kw = i % KW, k = channel % 16;
        float v = weight[(channel * OUT + filter) * EACH + i % EACH] * factor;
        __half large = __float2half_rn(v);
        int step = ((kd * (IN / 16) + channel / 16) * KW + kw) * KH + kh;
        int lane = filter % 8 * 4 + k % 8 / 2, at = (step * 64 + lane) * 8 + filter / 8 * 4 + k / 8 * 2 + k % 2;
        taps[at] = large;
        taps[at + 256] = __float2half_rn(v - __half2float(large));
    }
}

// A block takes COLUMNS of all columns of all slices of outputs, one slice after the other, and ROWS rows of them.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) convolve(
    const __half* __restrict__ packed, const uint4* __restrict__ taps, const float* __restrict__ factors,
    const float* __restrict__ bias, float* __restrict__ y, int slices, int depth, int height, int bands) {
    int out_depth = depth + KD - 1, out_height = height + KH - 1;
    int first = blockIdx.x % bands * ROWS, start = blockIdx.x / bands * COLUMNS;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    // The first `cut` columns are the last ones of one slice, the others the first ones of the next.
    int slice = start / OUT_WIDTH, left = start % OUT_WIDTH, cut = OUT_WIDTH - left;
    int d0 = slice % out_depth, d1 = (slice + 1) % out_depth, n0 = slice / out_depth, n1 = (slice + 1) / out_depth;
    bool two = cut < COLUMNS && slice + 1 < slices;

    // A stage is a depth tap and half of the channels.
    auto next = [&](int stage) {
        for (; stage < 2 * KD; ++stage) {
            int kd = stage / 2;
            if ((d0 >= kd && d0 - kd < depth) || (two && d1 >= kd && d1 - kd < depth)) break;
        }
        return stage;
    };
    auto fetch = [&](int stage, int turn) {
        __half* to = places + turn * STAGE;
        int kd = stage / 2;
        for (int i = threadIdx.x; i < LINES * PLACES * 4; i += THREADS) {
            int eight = i % 4, place = i / 4 % PLACES, line = i / (4 * PLACES);
            bool second = place >= cut + KW - 1;
            int h = first - (KH - 1) + line, w = second ? place - cut - 2 * (KW - 1) : left + place - (KW - 1);
            int d = (second ? d1 : d0) - kd, n = second ? n1 : n0;
            bool there = h >= 0 && h < height && w >= 0 && w < WIDTH && d >= 0 && d < depth && (two || !second);
            const __half* from = packed + ((size_t)((n * depth + d) * height + h) * WIDTH + w) * 64;
            copy(to + (line * PLACES + place) * 32 + (eight ^ (place / 2 % 4)) * 8,
                 there ? from + stage % 2 * 32 + eight * 8 : packed, there);
        }
        commit();
    };

    int column = warp * 16 + lane % 16, shifted = column + (column >= cut ? KW - 1 : 0) + KW - 1;
    float sum[ROWS][2][4] = {};
    int stage = next(0);
    fetch(stage, 0);
#pragma unroll 1
    for (int turn = 0; stage < 2 * KD; turn ^= 1) {
        int after = next(stage + 1);
        if (after < 2 * KD) {
            fetch(after, turn ^ 1);
            wait_for_copies<1>();
        } else {
            wait_for_copies<0>();
        }
        __syncthreads();
        const __half* here = places + turn * STAGE;
#pragma unroll 1
        for (int kw = 0; kw < KW; ++kw) {
            uint4 large[KH], small[KH];
            const uint4* from = taps + (stage * KW + kw) * (KH * 64) + lane;
#pragma unroll
            for (int kh = 0; kh < KH; ++kh) large[kh] = __ldg(from + kh * 64), small[kh] = __ldg(from + kh * 64 + 32);
            int place = shifted - kw, bits = place / 2 % 4, chunk = lane / 16;
            const __half* at = here + place * 32;
#pragma unroll
            for (int line = 0; line < LINES; ++line) {
                unsigned a[4], b[4];
                load_matrices(a, at + line * (PLACES * 32) + (chunk ^ bits) * 8);
                load_matrices(b, at + line * (PLACES * 32) + ((chunk + 2) ^ bits) * 8);
                float part[KH][2][4] = {};
#pragma unroll
                for (int product = 0; product < 3; ++product)
#pragma unroll
                    for (int kh = 0; kh < KH; ++kh) {
                        int row = line - (KH - 1) + kh;
                        if (row < 0 || row >= ROWS) continue;
                        const uint4& w = product == 1 ? small[kh] : large[kh];
                        multiply(part[kh][0], product == 0 ? b : a, w.x, w.y);
                        multiply(part[kh][1], product == 0 ? b : a, w.z, w.w);
                    }
#pragma unroll
                for (int kh = 0; kh < KH; ++kh) {
                    int row = line - (KH - 1) + kh;
                    if (row < 0 || row >= ROWS) continue;
#pragma unroll
                    for (int i = 0; i < 8; ++i) sum[row][i / 4][i % 4] += part[kh][i / 4][i % 4];
                }
            }
        }
        __syncthreads();
        stage = after;
    }

    float back = factors[OUT];
#pragma unroll
    for (int high = 0; high < 2; ++high) {
        int col = warp * 16 + lane / 4 + high * 8;
        bool second = col >= cut;
        int w = second ? col - cut : left + col, d = second ? d1 : d0, n = second ? n1 : n0;
        if (second && !two) continue;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            int filter = i / 2 * 8 + lane % 4 * 2 + i % 2;
            float factor = factors[filter], shift = bias ? bias[filter] : 0.0f;
            float* to = y + ((size_t)(n * OUT + filter) * out_depth + d) * out_height * OUT_WIDTH + w;
#pragma unroll
            for (int row = 0; row < ROWS; ++row)
                if (first + row < out_height)
                    to[(first + row) * OUT_WIDTH] = sum[row][i / 2][high * 2 + i % 2] * factor * back + shift;
        }
    }
}
