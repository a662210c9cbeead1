#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tarn {

/// Flushes denormal numbers to zero in this thread during its lifetime. Friction reduces the
/// velocities of padding molecules without limit, and arithmetic with denormals is slow.
class FlushDenormals {
 public:
  FlushDenormals() {
#if defined(__aarch64__)
    constexpr unsigned long kFlushToZero = 1ul << 24;
    before_ = control();
    set_control(before_ | kFlushToZero);
#elif defined(__SSE2__)
    constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
    before_ = _mm_getcsr();
    _mm_setcsr(static_cast<unsigned>(before_) | kFlushToZero | kDenormalsAreZero);
#endif
  }
  ~FlushDenormals() {
#if defined(__aarch64__)
    set_control(before_);
#elif defined(__SSE2__)
    _mm_setcsr(static_cast<unsigned>(before_));
#endif
  }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__aarch64__)
  static unsigned long control() {
    unsigned long value = 0;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void set_control(unsigned long value) { asm volatile("msr fpcr, %0" : : "r"(value)); }
#endif

  unsigned long before_ = 0;
};

}  // namespace tarn
