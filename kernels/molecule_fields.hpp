#pragma once

#include "kernels/measure.hpp"

namespace tarn::gpu {

/// Where the fields of kArrayFields are written, [replica][molecule][9 or 3]; null: not requested.
struct MoleculeFields {
  double *positions, *own_positions, *velocities, *multipliers;
};

/// @param d with forces at the positions of the bonds if the multipliers need them
void launch_molecule_fields(const DeviceState& d, const MeasureNumbers& n,
                            const MoleculeFields& out, cudaStream_t stream);

}  // namespace tarn::gpu
