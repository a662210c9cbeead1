#pragma once

#include <functional>
#include <span>

#include <Eigen/Core>

#include "tarn/system.hpp"

/// @file
/// Linear solves of Z&Ss with explicit matrices, in double precision: the reference for the
/// structured solves, and the only solver for Hessians without structure. Also the Hessian itself.

namespace tarn::cpu {

/// Accelerations of one replica, (M + b h^2 H) a = F0 - omega^2 J^T g, by Cholesky factorisation.
/// H is the Hessian of the system's integrator: gauss_newton and full have 9x9 blocks; molecule
/// adds the diagonal blocks of the non-bonded Hessian; total is one 9N x 9N matrix. The wall enters
/// F0 only.
/// @param x positions, 9 N; @param f0 force without the bonds; @param a out
/// @return number of matrices that were not positive definite; their accelerations are NaN
int dense_accelerations(const System& system, std::span<const double> x, std::span<const double> f0,
                        std::span<double> a);

/// Receives the whole 9x9 block between molecules k (rows) and l <= k (columns).
using PutBlock = std::function<void(int k, int l, const Eigen::MatrixXd& block)>;

/// The Hessian of V0 + V1 of one cluster [kcal/mol/A^2], equations (9) and (27), in blocks on and
/// below the diagonal; those above are their transposes. That of a flexible model includes the
/// intramolecular energy, equation (79).
/// @param omega 0 without a penalty
/// @param x positions, 9 N
void for_each_hessian_block(const WaterModel& model, double omega, std::span<const double> x,
                            const PutBlock& put);

}  // namespace tarn::cpu
