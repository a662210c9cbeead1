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
  std::vector<double> positions_A;  ///< [bead][molecule][9], atoms O H H
  std::string label;                ///< printed below the cluster
  std::string file{};               ///< printed before the label; shortened if both are too long
  int beads = 1;                    ///< of ring polymers
};

/// Label of a frame from its comment: isomer or time, beads, and the energy of its minimum. Empty
/// without these.
std::string label_of_frame(const io::Structure& structure);

/// Maximum number of molecules in a picture; each bead counts.
inline constexpr int kMostDrawnMolecules = 5000;

/// Draws clusters side by side on one scale as SVG: balls, sticks and dashed hydrogen bonds. The
/// view of each cluster minimises the overlap of its atoms; distant atoms are paler. Ring polymers
/// are drawn bead by bead, with the hydrogen bonds of their centroids. The output is deterministic.
/// Labels that are too long are truncated.
/// @param title printed above; empty: none
/// @param columns number of clusters per row; 0: automatic
/// @throws InputError without molecules, or with too many
std::string structure_svg(std::span<const DrawnCluster> clusters, std::string_view title,
                          std::size_t columns = 0);

}  // namespace tarn
