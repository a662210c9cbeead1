#pragma once

#include <functional>
#include <span>

#include <Eigen/Core>

#include "tarn/system.hpp"

/// @file
/// The linear solves of Z&Ss with the matrix written out and factorised, in double precision: the
/// reference for the structured solves, and the Hessians that have no structure to use. The whole
/// Hessian by itself.

namespace tarn::cpu {

/// Accelerations of one replica, (M + b h^2 H) a = F0 - omega^2 J^T g, by Cholesky factorisation.
/// H is what the system's integrator names: gauss_newton and full as 9x9 blocks; molecule adds the
/// diagonal blocks of the non-bonded Hessian; total is one 9N x 9N matrix. A wall is in F0 only.
/// @param x positions, 9 N; @param f0 force without the bonds; @param a out
/// @return how many of the matrices were not positive definite; what they were for is no number
int dense_accelerations(const System& system, std::span<const double> x, std::span<const double> f0,
                        std::span<double> a);

using Matrix9 = Eigen::Matrix<double, 9, 9>;
/// Takes the block between molecules k (rows) and l <= k (columns), all of it.
using PutBlock = std::function<void(int k, int l, const Matrix9& block)>;

/// The Hessian of V0 + V1 of one cluster [kcal/mol/A^2], equations (9) and (27), in blocks on and
/// below the diagonal; those above are their transposes.
/// @param omega 0: of V0 alone; @param x positions, 9 N
void for_each_hessian_block(const WaterModel& model, double omega, std::span<const double> x,
                            const PutBlock& put);

}  // namespace tarn::cpu
