#pragma once
#include "kernwright_cuda.h"
#ifndef KERNWRIGHT_LISTING
#include "kernwright_narrow.h"

using __half = kernwright::Narrow<kernwright::Half>;
using __half2 = kernwright::Pair<__half>;
using half = __half;
using half2 = __half2;
KERNWRIGHT_NARROW(__half, __half2)

inline float __half2float(__half v) { return float(v); }
inline __half __float2half(float v) { return __half(v); }
inline __half __float2half_rn(float v) { return __half(v); }
inline __half __double2half(double v) { return __half(v); }
inline __half __int2half_rn(int v) { return __half(v); }
inline int __half2int_rn(__half v) { return int(rintf(float(v))); }
inline unsigned short __half_as_ushort(__half v) { return v.bits; }
inline __half __ushort_as_half(unsigned short v) { __half r; r.bits = v; return r; }
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half2 make_half2(__half a, __half b) { return {a, b}; }
inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 __float2half2_rn(float v) { return {__half(v), __half(v)}; }
inline __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
inline __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
inline float2 __half22float2(__half2 v) { return {float(v.x), float(v.y)}; }
inline __half __low2half(__half2 v) { return v.x; }
inline __half __high2half(__half2 v) { return v.y; }
inline float __low2float(__half2 v) { return float(v.x); }
inline float __high2float(__half2 v) { return float(v.y); }
#endif
