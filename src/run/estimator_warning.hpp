#pragma once

#include <string>
#include <vector>

#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"
#include "tarn/observer.hpp"

namespace tarn {

/// Warnings, by bath, for mean energies of ring polymers by the primitive and by the
/// centroid-virial estimator, equation (83), that differ by more than five standard errors.
/// @param averages with those of path_integral.csv; without them there are no warnings
Messages estimator_warnings(const std::vector<AveragedQuantity>& averages, const Deck& deck);

}  // namespace tarn
