#pragma once

#include <functional>
#include <string>

#include "tarn/minimise.hpp"
#include "terminal.hpp"

namespace tarn::cli {

/// Runs a minimisation with progress lines. It stops when interrupted (see catch_interrupts()), and
/// warns if it did not converge.
/// @param options without callbacks
/// @param exit_code set if no minimum was reached
MinimiseResult minimise_with_report(
    MinimiseOptions options,
    const std::function<MinimiseResult(const MinimiseOptions& options)>& minimise,
    Terminal& terminal, int& exit_code);

/// Energies before and after, and the largest remaining force.
std::string result_text(const MinimiseResult& result);

}  // namespace tarn::cli
