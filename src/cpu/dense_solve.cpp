#include "dense_solve.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "layout.hpp"
#include "tarn/physics/penalty.hpp"

namespace tarn::cpu {
namespace {

using Vector9 = Eigen::Matrix<double, 9, 1>;
using Matrix9 = Eigen::Matrix<double, 9, 9>;

Vector9 to_vector(const Triple<double>& t) {
  Vector9 v;
  v << t.o.x, t.o.y, t.o.z, t.h1.x, t.h1.y, t.h1.z, t.h2.x, t.h2.y, t.h2.z;
  return v;
}

}  // namespace

void dense_accelerations(const StepParameters& q, double omega, int lanes,
                         const MoleculePacks& packs) {
  const double omega2 = omega * omega;
  for (int p = packs.first_pack; p < packs.last_pack; ++p) {
    for (int l = 0; l < lanes; ++l) {
      double c[9];
      Vector9 f0;
      for (int k = 0; k < 9; ++k) {
        c[k] = packs.x[pack_index(lanes, p, k, l)];
        f0[k] = packs.f[pack_index(lanes, p, k, l)];
      }
      const Triple<double> x{{c[0], c[1], c[2]}, {c[3], c[4], c[5]}, {c[6], c[7], c[8]}};
      const Bonds<double> b = bonds(x);
      const BondValues<double> g = constraint_values(b, q.bonds);
      Eigen::Matrix<double, 9, 3> jt;  // columns are the gradients of g
      jt.col(0) = to_vector(apply_jacobian_transposed(b, BondValues<double>{1.0, 0.0, 0.0}));
      jt.col(1) = to_vector(apply_jacobian_transposed(b, BondValues<double>{0.0, 1.0, 0.0}));
      jt.col(2) = to_vector(apply_jacobian_transposed(b, BondValues<double>{0.0, 0.0, 1.0}));
      Matrix9 matrix = q.bh2 * omega2 * jt * jt.transpose();
      for (int k = 0; k < 9; ++k) matrix(k, k) += k < 3 ? q.masses.o : q.masses.h;
      const Vector9 rhs = f0 - omega2 * (jt * Eigen::Vector3d(g.oh1, g.oh2, g.hh));
      const Vector9 a = matrix.llt().solve(rhs);
      for (int k = 0; k < 9; ++k) packs.a[pack_index(lanes, p, k, l)] = a[k];
    }
  }
}

}  // namespace tarn::cpu
