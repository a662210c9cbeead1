#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tarn::cpu {

/// While it lives, numbers below 1e-308 count as zero in this thread. Friction makes the velocities
/// of molecules that only fill up a pack ever smaller, and processors are slow with what is left in
/// the end.
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

}  // namespace tarn::cpu
