#pragma once

#include "tarn/core/host_device.hpp"

namespace tarn::inline TARN_ARCH {

/// a b + c: fused if the instruction set supports it, else rounded twice. Packs overload it.
#if defined(__CUDA_ARCH__)
TARN_HD double fma(double a, double b, double c) { return __fma_rn(a, b, c); }
TARN_HD float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
#elif defined(__FMA__) || defined(__ARM_FEATURE_FMA)
TARN_HD double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
TARN_HD float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
TARN_HD double fma(double a, double b, double c) { return a * b + c; }
TARN_HD float fma(float a, float b, float c) { return a * b + c; }
#endif

/// A vector in space; T is a scalar, a pack or a dual number.
template <class T>
struct Vec3 {
  T x, y, z;
};

template <class T>
TARN_HD Vec3<T> operator+(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class T>
TARN_HD Vec3<T> operator-(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class T>
TARN_HD Vec3<T> operator-(const Vec3<T>& a) {
  return {-a.x, -a.y, -a.z};
}
template <class T>
TARN_HD Vec3<T> operator*(const T& s, const Vec3<T>& a) {
  return {s * a.x, s * a.y, s * a.z};
}
/// s a + b.
template <class T>
TARN_HD Vec3<T> fma(const T& s, const Vec3<T>& a, const Vec3<T>& b) {
  return {fma(s, a.x, b.x), fma(s, a.y, b.y), fma(s, a.z, b.z)};
}
template <class T>
TARN_HD T dot(const Vec3<T>& a, const Vec3<T>& b) {
  return fma(a.x, b.x, fma(a.y, b.y, a.z * b.z));
}
template <class T>
TARN_HD T norm2(const Vec3<T>& a) {
  return dot(a, a);
}
template <class T>
TARN_HD Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
  return {fma(a.y, b.z, -(a.z * b.y)), fma(a.z, b.x, -(a.x * b.z)), fma(a.x, b.y, -(a.y * b.x))};
}

}  // namespace tarn::inline TARN_ARCH
