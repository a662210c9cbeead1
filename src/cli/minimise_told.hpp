#pragma once

#include <functional>
#include <string>

#include "tarn/minimise.hpp"
#include "terminal.hpp"

namespace tarn::cli {

/// A minimisation that tells how far it is, ends when it is interrupted (see catch_interrupts()),
/// and warns of what it did not reach.
/// @param options without `should_continue` and `on_iteration`
/// @param exit_code set where it did not reach a minimum
MinimiseResult minimise_told(
    MinimiseOptions options,
    const std::function<MinimiseResult(const MinimiseOptions& options)>& minimise,
    Terminal& terminal, int& exit_code);

/// Energies before and after, and what is left.
std::string text_of(const MinimiseResult& result);

}  // namespace tarn::cli
