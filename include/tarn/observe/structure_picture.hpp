#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/io/structure.hpp"

namespace tarn {

/// A cluster in a picture.
struct DrawnCluster {
  std::vector<double> positions_A;  ///< [molecule][9], atoms O H H
  std::string label;                ///< below it
  std::string file{};  ///< before the label, and shortened where there is no room for both
};

/// What a frame says of itself: its isomer or time, and the energy of its minimum. Empty where it
/// says nothing.
std::string label_of_frame(const io::Structure& structure);

/// Most molecules of a picture.
inline constexpr int kMostDrawnMolecules = 5000;

/// An SVG of clusters beside one another, all on one scale: balls, sticks and dashed hydrogen
/// bonds. Each is seen from where its atoms hide one another least; what is behind is paler. The
/// same positions give the same text. Labels that are too long for their place are cut.
/// @param title above; empty: none
/// @param columns how many stand beside one another; 0: as the page looks best
/// @throws InputError without a molecule, or with too many
std::string structure_svg(std::span<const DrawnCluster> clusters, std::string_view title,
                          std::size_t columns = 0);

}  // namespace tarn
