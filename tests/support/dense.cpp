#include "dense.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

namespace tarn::test {

VectorX solution(const MatrixX& a, const VectorX& b) { return a.fullPivLu().solve(b); }

VectorX eigenvalues(const MatrixX& symmetric) {
  return Eigen::SelfAdjointEigenSolver<MatrixX>(symmetric).eigenvalues();
}

}  // namespace tarn::test
