#include "kernel_table.hpp"

#include <string>

#include "core/processors.hpp"
#include "tarn/core/error.hpp"

namespace tarn::cpu {

int usable_kernels(const KernelTable** tables, int capacity) {
  const std::string& fastest = wanted_instructions();
  int n = 0;
  const auto add = [&](const KernelTable& table) {
    if (n < capacity && (n > 0 || fastest.empty() || fastest == table.name)) tables[n++] = &table;
  };
#if defined(TARN_HAVE_AVX512)
  if (has_instructions("avx512")) {
    const bool amd = __builtin_cpu_is("amd");
    add(amd ? kKernels_avx512_amd : kKernels_avx512);
    add(amd ? kKernels_avx512 : kKernels_avx512_amd);
  }
#endif
#if defined(TARN_HAVE_AVX2)
  if (has_instructions("avx2")) add(kKernels_avx2);
#endif
#if defined(TARN_HAVE_PORTABLE)
  add(kKernels_portable);
#endif
  if (n == 0 && fastest.empty()) {
    throw InputError(
        "this build is for another kind of processor; configure it with "
        "-DTARN_CPU_TABLES=all, or on this machine");
  }
  if (n == 0) {
    throw InputError("TARN_CPU_KERNELS: this build or this processor has no instruction set \"" +
                     fastest + "\"; unset it, or use portable, avx2 or avx512");
  }
  return n;
}

const KernelTable& best_kernels() {
  const KernelTable* table = nullptr;
  usable_kernels(&table, 1);
  return *table;
}

}  // namespace tarn::cpu
