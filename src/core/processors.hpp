#pragma once

#include <string>
#include <string_view>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

/// @file
/// The processors of this machine, the default number of threads, and how they treat denormals.

namespace tarn {

/// Number of processors that this process may use: those of its affinity mask, limited by the quota
/// of its control group.
int processors();

/// Default number of threads: OMP_NUM_THREADS, or all processors.
int default_threads();

/// Whether this processor has the instructions of the kernels named "avx512", "avx2" or "portable".
bool has_instructions(std::string_view name);
/// The environment variable TARN_CPU_KERNELS, the instruction set to use; empty: the best one.
const std::string& wanted_instructions();

/// Name of the processor, such as "AMD EPYC (family 25, model 17)"; empty if unknown.
/// @param cpuinfo a file in the format of /proc/cpuinfo; its first processor counts
std::string processor_name(const std::string& cpuinfo = "/proc/cpuinfo");

/// The description of an engine on these processors: its arithmetic, the number of threads, and the
/// name of the processor.
std::string cpu_description(const std::string& arithmetic, int threads);

/// Number of processors in the quotas of the process's control group and its parents; 0: no quota.
/// @param groups a file in the format of /proc/self/cgroup; only control groups version 2 are read
/// @param root path of the hierarchy, as /sys/fs/cgroup
double quota_of_control_group(const std::string& groups, const std::string& root);

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
