#include "step_options.hpp"

#include <cmath>
#include <set>

#include <fmt/format.h>

#include "io/words.hpp"
#include "tarn/core/error.hpp"

namespace tarn {
namespace {

std::string with_colon(std::string_view key) { return fmt::format(":{}=", key); }

}  // namespace

void check_steps(const std::vector<std::string>& schemes, const CompareOptions& options,
                 std::string_view key, std::string_view unit) {
  for (const double step : options.steps) {
    if (!(step > 0.0) || !std::isfinite(step)) {
      throw InputError(fmt::format("--steps {}: a step must be greater than 0{}", step, unit));
    }
  }
  if (std::set<double>(options.steps.begin(), options.steps.end()).size() != options.steps.size()) {
    throw InputError("--steps: each step must be given only once");
  }
  for (const std::string& scheme : schemes) {
    if (scheme.find(with_colon(key)) == std::string::npos) continue;
    throw InputError(fmt::format(
        "--schemes {}: --steps sets the steps of all schemes; omit {} here", scheme, key));
  }
}

ReferenceScheme reference_scheme(const std::string& spec, std::string_view key,
                                 std::string_view unit) {
  const std::string begins = with_colon(key);
  const std::size_t at = spec.find(begins);
  if (at == std::string::npos) return {spec, {}};
  const auto step = io::finite_number(std::string_view(spec).substr(at + begins.size()));
  if (!step || *step <= 0.0) {
    throw InputError(fmt::format(
        "--reference {}: {} must be the last key and a number greater than 0{}", spec, key, unit));
  }
  return {spec.substr(0, at), step};
}

}  // namespace tarn
