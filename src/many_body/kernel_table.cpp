#include "cpu/kernel_table.hpp"

#include <algorithm>

#include "kernels.hpp"

namespace tarn::many_body {

// Of these, a build may have only some.
extern const Kernels kKernels_portable, kKernels_avx2, kKernels_avx512;

const Kernels* kernels_named(std::string_view name) {
  const Kernels* const all[] = {
#if defined(TARN_HAVE_AVX512)
    &kKernels_avx512,
#endif
#if defined(TARN_HAVE_AVX2)
    &kKernels_avx2,
#endif
    &kKernels_portable
  };
  const auto* const found =
      std::ranges::find_if(all, [&](const Kernels* k) { return name.starts_with(k->name); });
  return found == std::end(all) ? nullptr : *found;
}

const Kernels& best_kernels() { return *kernels_named(cpu::best_kernels().name); }

}  // namespace tarn::many_body
