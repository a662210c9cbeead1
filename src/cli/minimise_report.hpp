#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tarn/minimise.hpp"
#include "terminal.hpp"

namespace tarn::cli {

/// Runs a minimisation with progress lines. It stops when interrupted (see catch_interrupts()), and
/// warns if it did not converge.
/// @param options without callbacks
/// @param advice added to this warning
/// @param exit_code set if no minimum was reached
MinimiseResult minimise_with_report(
    MinimiseOptions options,
    const std::function<MinimiseResult(const MinimiseOptions& options)>& minimise,
    std::string_view advice, Terminal& terminal, int& exit_code);

/// Advice for a minimisation with a potential that did not converge.
inline constexpr std::string_view kNoisyForces =
    ". Check the forces with tarn check --potential; if their errors are larger, increase "
    "--tolerance";

/// Energies before and after, and the largest remaining force.
std::string result_text(const MinimiseResult& result);

}  // namespace tarn::cli
