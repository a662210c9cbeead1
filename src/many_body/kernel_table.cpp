#include <algorithm>

#include "core/processors.hpp"
#include "kernels.hpp"
#include "tarn/core/error.hpp"

namespace tarn::many_body {
namespace {

/// The fastest first.
constexpr const Kernels* kAll[] = {
#if defined(TARN_HAVE_AVX512)
    &kKernels_avx512,
#endif
#if defined(TARN_HAVE_AVX2)
    &kKernels_avx2,
#endif
#if defined(TARN_HAVE_PORTABLE)
    &kKernels_portable,
#endif
};

}  // namespace

const Kernels* kernels_named(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kAll, [&](const Kernels* k) { return name.starts_with(k->name); });
  return found == std::end(kAll) ? nullptr : *found;
}

const Kernels& best_kernels() {
  bool allowed = wanted_instructions().empty();
  for (const Kernels* const kernels : kAll) {
    allowed = allowed || wanted_instructions().starts_with(kernels->name);
    if (allowed && has_instructions(kernels->name)) return *kernels;
  }
  throw InputError("this build has no instruction set for this processor");
}

}  // namespace tarn::many_body
