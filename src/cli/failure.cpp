#include "failure.hpp"

#include <new>

#include "run/run_record.hpp"
#include "tarn/core/error.hpp"
#include "tarn/potential.hpp"
#include "terminal.hpp"

namespace tarn::cli {

Failure failure_of(const std::exception& error) {
  if (const auto* ours = dynamic_cast<const Error*>(&error)) {
    return {static_cast<int>(ours->code()), ours->what()};
  }
  if (dynamic_cast<const PotentialInterrupted*>(&error) != nullptr) {
    return {interrupted_exit_code(), error.what()};
  }
  const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  return {static_cast<int>(is_memory ? ExitCode::device : ExitCode::io), failure_reason(error)};
}

}  // namespace tarn::cli
