#pragma once

#include "kernel_table.hpp"

namespace tarn::cpu {

/// The acceleration of Z&Ss by a dense 9x9 Cholesky factorisation of each molecule, the reference
/// for the structured solve: (M + b h^2 omega^2 J^T J) a = F0 - omega^2 J^T g. Writes packs.a.
void dense_accelerations(const StepParameters& parameters, double omega, int lanes,
                         const MoleculePacks& packs);

}  // namespace tarn::cpu
