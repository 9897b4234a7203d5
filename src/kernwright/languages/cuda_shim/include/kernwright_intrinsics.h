// Barriers, warp operations, atomics, loads with hints, conversions and mathematics.
#pragma once

#define KERNWRIGHT_INLINE inline __attribute__((always_inline))

// --- barriers and fences; blocks run one after another in one thread, so a fence is a place to give way only
inline void __syncthreads() { kernwright::barrier(); }
inline int __syncthreads_count(int p) { return kernwright::barrier(p); }
inline int __syncthreads_or(int p) { return kernwright::barrier(p) != 0; }
inline int __syncthreads_and(int p) { return kernwright::barrier(!p) == 0; }
inline void __syncwarp(unsigned mask = 0xffffffffu) { kernwright::meet(mask, kernwright::Meeting::sync, 0); }
inline void __threadfence() { kernwright::spin(); }
inline void __threadfence_block() { kernwright::spin(); }
inline void __threadfence_system() { kernwright::spin(); }
inline void __nanosleep(unsigned) { kernwright::spin(); }
inline void __trap() { kernwright::fail("it calls __trap()"); }
inline void __brkpt() { kernwright::fail("it calls __brkpt()"); }

// --- warp operations
namespace kernwright {

template <class T>
inline uint64_t bits_of(T value) {
    static_assert(sizeof(T) <= 8, "a warp operation moves at most 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class T>
inline T exchanged(unsigned mask, T value, int source) {
    uint64_t bits = meet(mask, Meeting::shuffle, bits_of(value), source);
    T result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

inline int lane() { return current & 31; }

}  // namespace kernwright

template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    int first = kernwright::lane() & ~(width - 1);
    return kernwright::exchanged(mask, value, first + (source & (width - 1)));
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    int lane = kernwright::lane(), first = lane & ~(width - 1);
    return kernwright::exchanged(mask, value, lane - int(delta) < first ? lane : lane - int(delta));
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    int lane = kernwright::lane(), last = lane | (width - 1);
    return kernwright::exchanged(mask, value, lane + int(delta) > last ? lane : lane + int(delta));
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
    int lane = kernwright::lane(), last = lane | (width - 1), other = lane ^ bits;
    return kernwright::exchanged(mask, value, other > last ? lane : other);
}
inline unsigned __ballot_sync(unsigned mask, int p) {
    return unsigned(kernwright::meet(mask, kernwright::Meeting::ballot, p != 0));
}
inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
inline int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, !p) == 0; }
template <class T>
inline unsigned __match_any_sync(unsigned mask, T value) {
    return unsigned(kernwright::meet(mask, kernwright::Meeting::match_any, kernwright::bits_of(value)));
}
template <class T>
inline unsigned __match_all_sync(unsigned mask, T value, int* all) {
    unsigned members = unsigned(kernwright::meet(mask, kernwright::Meeting::match_all, kernwright::bits_of(value)));
    *all = members != 0;
    return members;
}
template <class T>
inline T __reduce_add_sync(unsigned mask, T v) { return T(kernwright::meet(mask, kernwright::Meeting::add, uint64_t(v))); }
inline int __reduce_min_sync(unsigned mask, int v) {
    return int(kernwright::meet(mask, kernwright::Meeting::min_signed, uint64_t(int64_t(v))));
}
inline int __reduce_max_sync(unsigned mask, int v) {
    return int(kernwright::meet(mask, kernwright::Meeting::max_signed, uint64_t(int64_t(v))));
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned v) {
    return unsigned(kernwright::meet(mask, kernwright::Meeting::min_unsigned, v));
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned v) {
    return unsigned(kernwright::meet(mask, kernwright::Meeting::max_unsigned, v));
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned v) {
    return unsigned(kernwright::meet(mask, kernwright::Meeting::all_of, v));
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned v) {
    return unsigned(kernwright::meet(mask, kernwright::Meeting::any_of, v));
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned v) {
    return unsigned(kernwright::meet(mask, kernwright::Meeting::parity, v));
}
inline unsigned __activemask() {
    unsigned mask = 0;
    int first = kernwright::current & ~31;
    for (int i = 0; i < 32 && first + i < kernwright::threads; ++i)
        mask |= unsigned(kernwright::fibers[first + i].state != kernwright::State::gone) << i;
    return mask;
}

// --- atomics; those that a thread can wait with give way
namespace kernwright {
template <class T> struct Same { using type = T; };
template <class T> using same = typename Same<T>::type;

template <class T, class F>
KERNWRIGHT_INLINE T updated(T* place, F function) {
    T old = *place;
    *place = T(function(old));
    return old;
}
}  // namespace kernwright

#define KERNWRIGHT_ATOMIC(name, expression)                                                                  \
    template <class T> inline T name(T* p, kernwright::same<T> v) {                                          \
        return kernwright::updated(p, [v](T old) { return expression; });                                    \
    }                                                                                                        \
    template <class T> inline T name##_block(T* p, kernwright::same<T> v) { return name(p, v); }             \
    template <class T> inline T name##_system(T* p, kernwright::same<T> v) { return name(p, v); }
KERNWRIGHT_ATOMIC(atomicAdd, old + v)
KERNWRIGHT_ATOMIC(atomicSub, old - v)
KERNWRIGHT_ATOMIC(atomicMin, v < old ? v : old)
KERNWRIGHT_ATOMIC(atomicMax, old < v ? v : old)
KERNWRIGHT_ATOMIC(atomicAnd, old & v)
KERNWRIGHT_ATOMIC(atomicOr, old | v)
KERNWRIGHT_ATOMIC(atomicXor, old ^ v)
KERNWRIGHT_ATOMIC(atomicInc, old >= v ? 0 : old + 1)
KERNWRIGHT_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)
#undef KERNWRIGHT_ATOMIC
template <class T>
inline T atomicExch(T* p, kernwright::same<T> v) {
    kernwright::spin();
    return kernwright::updated(p, [v](T) { return v; });
}
template <class T>
inline T atomicCAS(T* p, kernwright::same<T> compare, kernwright::same<T> v) {
    kernwright::spin();
    return kernwright::updated(p, [compare, v](T old) { return old == compare ? v : old; });
}

// --- loads and stores with hints
template <class T> KERNWRIGHT_INLINE T __ldg(const T* p) { return *p; }
template <class T> KERNWRIGHT_INLINE T __ldca(const T* p) { return *p; }
template <class T> KERNWRIGHT_INLINE T __ldcg(const T* p) { return *p; }
template <class T> KERNWRIGHT_INLINE T __ldcs(const T* p) { return *p; }
template <class T> KERNWRIGHT_INLINE T __ldlu(const T* p) { return *p; }
template <class T> KERNWRIGHT_INLINE T __ldcv(const T* p) { return *p; }
template <class T> KERNWRIGHT_INLINE void __stwb(T* p, kernwright::same<T> v) { *p = v; }
template <class T> KERNWRIGHT_INLINE void __stcg(T* p, kernwright::same<T> v) { *p = v; }
template <class T> KERNWRIGHT_INLINE void __stcs(T* p, kernwright::same<T> v) { *p = v; }
template <class T> KERNWRIGHT_INLINE void __stwt(T* p, kernwright::same<T> v) { *p = v; }
inline void __builtin_assume(bool) {}

// --- bits
inline int __clz(int v) { return v ? __builtin_clz(unsigned(v)) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline unsigned __brev(unsigned v) {
    unsigned r = 0;
    for (int i = 0; i < 32; ++i) r |= (v >> i & 1u) << (31 - i);
    return r;
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    uint64_t both = uint64_t(y) << 32 | x;
    unsigned r = 0;
    for (int i = 0; i < 4; ++i) {
        unsigned byte = unsigned(both >> (s >> (4 * i) & 7) * 8) & 0xff;
        r |= ((s >> (4 * i) & 8) ? (byte & 0x80 ? 0xffu : 0u) : byte) << (8 * i);
    }
    return r;
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) {
    return unsigned((uint64_t(hi) << 32 | lo) << (s & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) {
    return unsigned((uint64_t(hi) << 32 | lo) >> (s & 31));
}
inline int __mul24(int a, int b) { return a * b; }
inline unsigned __umul24(unsigned a, unsigned b) { return a * b; }
inline int __mulhi(int a, int b) { return int(int64_t(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(uint64_t(a) * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
inline int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 4; ++i) c += int((signed char)(a >> 8 * i)) * int((signed char)(b >> 8 * i));
    return c;
}

// --- the same bits as another type, and conversions
#define KERNWRIGHT_AS(name, from, to)     \
    KERNWRIGHT_INLINE to name(from v) {   \
        to r;                             \
        memcpy(&r, &v, sizeof r);         \
        return r;                         \
    }
KERNWRIGHT_AS(__float_as_int, float, int)
KERNWRIGHT_AS(__int_as_float, int, float)
KERNWRIGHT_AS(__float_as_uint, float, unsigned)
KERNWRIGHT_AS(__uint_as_float, unsigned, float)
KERNWRIGHT_AS(__double_as_longlong, double, long long)
KERNWRIGHT_AS(__longlong_as_double, long long, double)
#undef KERNWRIGHT_AS
inline int __float2int_rn(float v) { return int(rintf(v)); }
inline int __float2int_rz(float v) { return int(v); }
inline int __float2int_rd(float v) { return int(floorf(v)); }
inline int __float2int_ru(float v) { return int(ceilf(v)); }
inline unsigned __float2uint_rn(float v) { return unsigned(rintf(v)); }
inline unsigned __float2uint_rz(float v) { return unsigned(v); }
inline long long __float2ll_rn(float v) { return (long long)rintf(v); }
inline float __int2float_rn(int v) { return float(v); }
inline float __uint2float_rn(unsigned v) { return float(v); }
inline float __ll2float_rn(long long v) { return float(v); }
inline float __double2float_rn(double v) { return float(v); }
inline int __double2int_rn(double v) { return int(rint(v)); }
inline double __int2double_rn(int v) { return double(v); }

// --- mathematics; what a GPU approximates is exact here
#define KERNWRIGHT_MATH1(name, expression) KERNWRIGHT_INLINE float name(float x) { return expression; }
#define KERNWRIGHT_MATH2(name, expression) KERNWRIGHT_INLINE float name(float x, float y) { return expression; }
KERNWRIGHT_MATH1(__expf, expf(x))
KERNWRIGHT_MATH1(__exp10f, powf(10.0f, x))
KERNWRIGHT_MATH1(__logf, logf(x))
KERNWRIGHT_MATH1(__log2f, log2f(x))
KERNWRIGHT_MATH1(__log10f, log10f(x))
KERNWRIGHT_MATH1(__sinf, sinf(x))
KERNWRIGHT_MATH1(__cosf, cosf(x))
KERNWRIGHT_MATH1(__tanf, tanf(x))
KERNWRIGHT_MATH1(__tanhf, tanhf(x))
KERNWRIGHT_MATH1(__saturatef, x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f)
KERNWRIGHT_MATH1(__frcp_rn, 1.0f / x)
KERNWRIGHT_MATH1(__fsqrt_rn, sqrtf(x))
KERNWRIGHT_MATH1(__frsqrt_rn, 1.0f / sqrtf(x))
KERNWRIGHT_MATH1(rsqrtf, 1.0f / sqrtf(x))
KERNWRIGHT_MATH1(rcbrtf, 1.0f / cbrtf(x))
KERNWRIGHT_MATH1(sinpif, sinf(3.14159265358979f * x))
KERNWRIGHT_MATH1(cospif, cosf(3.14159265358979f * x))
KERNWRIGHT_MATH1(normcdff, 0.5f * erfcf(-x * 0.70710678118654752f))
KERNWRIGHT_MATH1(erfcxf, float(exp(double(x) * x) * erfc(double(x))))
KERNWRIGHT_MATH2(__powf, powf(x, y))
KERNWRIGHT_MATH2(__fdividef, x / y)
KERNWRIGHT_MATH2(__fdiv_rn, x / y)
KERNWRIGHT_MATH2(fdividef, x / y)
__attribute__((optimize("fp-contract=off"))) inline float __fadd_rn(float x, float y) { return x + y; }
__attribute__((optimize("fp-contract=off"))) inline float __fsub_rn(float x, float y) { return x - y; }
__attribute__((optimize("fp-contract=off"))) inline float __fmul_rn(float x, float y) { return x * y; }
#undef KERNWRIGHT_MATH1
#undef KERNWRIGHT_MATH2
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return 1.0f / sqrtf(x); }
inline void __sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
inline float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }

template <class A, class B, class = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>>>
KERNWRIGHT_INLINE auto max(A a, B b) -> std::common_type_t<A, B> {
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<T>) return T(fmax(T(a), T(b)));
    else return T(a) < T(b) ? T(b) : T(a);
}
template <class A, class B, class = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>>>
KERNWRIGHT_INLINE auto min(A a, B b) -> std::common_type_t<A, B> {
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<T>) return T(fmin(T(a), T(b)));
    else return T(b) < T(a) ? T(b) : T(a);
}

inline long long clock64() {
#if defined(__x86_64__)
    return (long long)__builtin_ia32_rdtsc();
#else
    return 0;
#endif
}
