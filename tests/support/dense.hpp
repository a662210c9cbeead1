#pragma once

#include <Eigen/Core>

/// @file
/// Linear algebra in long double, compiled once for all tests.

namespace tarn::test {

using Real = long double;
using VectorX = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using MatrixX = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

/// x of a x = b, by elimination with all pivots.
VectorX solution(const MatrixX& a, const VectorX& b);
/// Of a symmetric matrix, from the lowest on.
VectorX eigenvalues(const MatrixX& symmetric);

}  // namespace tarn::test
