// Vector types and dimensions.
#pragma once

#define KERNWRIGHT_VECTORS(type, scalar, align2, align4)                                                     \
    struct type##1 { scalar x; };                                                                            \
    struct alignas(align2) type##2 { scalar x, y; };                                                         \
    struct type##3 { scalar x, y, z; };                                                                      \
    struct alignas(align4) type##4 { scalar x, y, z, w; };                                                   \
    inline type##1 make_##type##1(scalar x) { return {x}; }                                                  \
    inline type##2 make_##type##2(scalar x, scalar y) { return {x, y}; }                                     \
    inline type##3 make_##type##3(scalar x, scalar y, scalar z) { return {x, y, z}; }                        \
    inline type##4 make_##type##4(scalar x, scalar y, scalar z, scalar w) { return {x, y, z, w}; }

KERNWRIGHT_VECTORS(char, signed char, 2, 4)
KERNWRIGHT_VECTORS(uchar, unsigned char, 2, 4)
KERNWRIGHT_VECTORS(short, short, 4, 8)
KERNWRIGHT_VECTORS(ushort, unsigned short, 4, 8)
KERNWRIGHT_VECTORS(int, int, 8, 16)
KERNWRIGHT_VECTORS(uint, unsigned int, 8, 16)
KERNWRIGHT_VECTORS(long, long, 16, 16)
KERNWRIGHT_VECTORS(ulong, unsigned long, 16, 16)
KERNWRIGHT_VECTORS(longlong, long long, 16, 16)
KERNWRIGHT_VECTORS(ulonglong, unsigned long long, 16, 16)
KERNWRIGHT_VECTORS(float, float, 8, 16)
KERNWRIGHT_VECTORS(double, double, 16, 16)
#undef KERNWRIGHT_VECTORS

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};
