// Two-byte floating point: stored as bits, computed in float and rounded to nearest even after each operation, which
// for +, -, * and / gives the same result as arithmetic in the narrow type.
#pragma once

namespace kernwright {

inline uint32_t float_bits(float v) {
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return bits;
}
inline float bits_float(uint32_t bits) {
    float v;
    memcpy(&v, &bits, 4);
    return v;
}

struct Half {
    static float widen(uint16_t h) {
        uint32_t sign = uint32_t(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;
        if (exponent == 31) return bits_float(sign | 0x7f800000 | fraction << 13);
        if (exponent) return bits_float(sign | (exponent + 112) << 23 | fraction << 13);
        float tiny = float(fraction) * 5.9604644775390625e-08f;  // 2^-24
        return sign ? -tiny : tiny;
    }
    static uint16_t narrow(float v) {
        uint32_t bits = float_bits(v), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
        if (size > 0x7f800000) return uint16_t(0x7fff);
        if (size >= 0x477ff000) return uint16_t(sign | 0x7c00);  // rounds to 65536 or more
        if (size < 0x38800000) {                                 // below 2^-14: steps of 2^-24
            float steps = rintf(bits_float(size) * 16777216.0f);
            return uint16_t(sign | uint32_t(steps));
        }
        size += 0xfff + (size >> 13 & 1);
        return uint16_t(sign | (size - (112u << 23)) >> 13);
    }
};

struct Brain {
    static float widen(uint16_t h) { return bits_float(uint32_t(h) << 16); }
    static uint16_t narrow(float v) {
        uint32_t bits = float_bits(v);
        if ((bits & 0x7fffffff) > 0x7f800000) return uint16_t(0x7fff);
        return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
};

template <class Format>
struct Narrow {
    uint16_t bits;
    Narrow() = default;
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    Narrow(T v) : bits(Format::narrow(float(v))) {}
    operator float() const { return Format::widen(bits); }
    Narrow& operator+=(Narrow o) { return *this = Narrow(float(*this) + float(o)); }
    Narrow& operator-=(Narrow o) { return *this = Narrow(float(*this) - float(o)); }
    Narrow& operator*=(Narrow o) { return *this = Narrow(float(*this) * float(o)); }
    Narrow& operator/=(Narrow o) { return *this = Narrow(float(*this) / float(o)); }
    friend Narrow operator+(Narrow a, Narrow b) { return Narrow(float(a) + float(b)); }
    friend Narrow operator-(Narrow a, Narrow b) { return Narrow(float(a) - float(b)); }
    friend Narrow operator*(Narrow a, Narrow b) { return Narrow(float(a) * float(b)); }
    friend Narrow operator/(Narrow a, Narrow b) { return Narrow(float(a) / float(b)); }
    friend Narrow operator-(Narrow a) { return Narrow(-float(a)); }
    friend bool operator<(Narrow a, Narrow b) { return float(a) < float(b); }
    friend bool operator>(Narrow a, Narrow b) { return float(a) > float(b); }
    friend bool operator<=(Narrow a, Narrow b) { return float(a) <= float(b); }
    friend bool operator>=(Narrow a, Narrow b) { return float(a) >= float(b); }
    friend bool operator==(Narrow a, Narrow b) { return float(a) == float(b); }
    friend bool operator!=(Narrow a, Narrow b) { return float(a) != float(b); }
};

template <class N>
struct alignas(4) Pair {
    N x, y;
    Pair() = default;
    Pair(N x, N y) : x(x), y(y) {}
    friend Pair operator+(Pair a, Pair b) { return {a.x + b.x, a.y + b.y}; }
    friend Pair operator-(Pair a, Pair b) { return {a.x - b.x, a.y - b.y}; }
    friend Pair operator*(Pair a, Pair b) { return {a.x * b.x, a.y * b.y}; }
    friend Pair operator/(Pair a, Pair b) { return {a.x / b.x, a.y / b.y}; }
    Pair& operator+=(Pair o) { return *this = *this + o; }
    Pair& operator*=(Pair o) { return *this = *this * o; }
};

template <class N> inline bool is_nan(N v) { return float(v) != float(v); }
template <class N> inline N larger(N a, N b) { return is_nan(a) ? b : is_nan(b) ? a : float(a) < float(b) ? b : a; }
template <class N> inline N smaller(N a, N b) { return is_nan(a) ? b : is_nan(b) ? a : float(b) < float(a) ? b : a; }

}  // namespace kernwright

// The functions that both types have under the same names.
#define KERNWRIGHT_NARROW(N, N2)                                                                             \
    inline N __hadd(N a, N b) { return a + b; }                                                              \
    inline N __hsub(N a, N b) { return a - b; }                                                              \
    inline N __hmul(N a, N b) { return a * b; }                                                              \
    inline N __hdiv(N a, N b) { return a / b; }                                                              \
    inline N __hneg(N a) { return -a; }                                                                      \
    inline N __habs(N a) { return N(fabsf(float(a))); }                                                      \
    inline N __hfma(N a, N b, N c) { return N(float(double(float(a)) * float(b) + float(c))); }              \
    inline N __hmax(N a, N b) { return kernwright::larger(a, b); }                                           \
    inline N __hmin(N a, N b) { return kernwright::smaller(a, b); }                                          \
    inline bool __hlt(N a, N b) { return a < b; }                                                            \
    inline bool __hle(N a, N b) { return a <= b; }                                                           \
    inline bool __hgt(N a, N b) { return a > b; }                                                            \
    inline bool __hge(N a, N b) { return a >= b; }                                                           \
    inline bool __heq(N a, N b) { return a == b; }                                                           \
    inline bool __hne(N a, N b) { return a != b; }                                                           \
    inline bool __hisnan(N a) { return kernwright::is_nan(a); }                                              \
    inline N hexp(N a) { return N(expf(float(a))); }                                                         \
    inline N hlog(N a) { return N(logf(float(a))); }                                                         \
    inline N hsqrt(N a) { return N(sqrtf(float(a))); }                                                       \
    inline N hrsqrt(N a) { return N(1.0f / sqrtf(float(a))); }                                               \
    inline N htanh(N a) { return N(tanhf(float(a))); }                                                       \
    inline N2 __hadd2(N2 a, N2 b) { return a + b; }                                                          \
    inline N2 __hsub2(N2 a, N2 b) { return a - b; }                                                          \
    inline N2 __hmul2(N2 a, N2 b) { return a * b; }                                                          \
    inline N2 __hfma2(N2 a, N2 b, N2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }           \
    inline N2 __hmax2(N2 a, N2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                           \
    inline N2 __hmin2(N2 a, N2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                           \
    inline N2 h2exp(N2 a) { return {hexp(a.x), hexp(a.y)}; }                                                 \
    inline N2 atomicAdd(N2* p, N2 v) { N2 old = *p; *p = old + v; return old; }
