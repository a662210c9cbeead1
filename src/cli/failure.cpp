#include "failure.hpp"

#include <new>

#include "tarn/core/error.hpp"

namespace tarn::cli {

Failure failure_of(const std::exception& error) {
  if (const auto* ours = dynamic_cast<const Error*>(&error)) {
    return {static_cast<int>(ours->code()), ours->what()};
  }
  if (dynamic_cast<const std::bad_alloc*>(&error)) {
    return {static_cast<int>(ExitCode::device),
            "not enough memory; use fewer replicas or molecules"};
  }
  return {static_cast<int>(ExitCode::io), error.what()};
}

}  // namespace tarn::cli
