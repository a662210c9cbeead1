#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Core>

#include "core/dense.hpp"
#include "core/slow_point.hpp"
#include "physics/slow_manifold.hpp"
#include "start_sources.hpp"
#include "tarn/physics/triple.hpp"

namespace tarn::start {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr Index kCoordinates = 9;  // of a molecule
constexpr Index kValues = 6;       // omega g and the rates of a molecule's three bonds

/// The projection has converged when omega g and the rates change by less than this
/// [sqrt(kcal/mol)]. The energy is then accurate to about 1e-14 kcal/mol; the value exceeds the
/// rounding of g up to about omega = 1e5.
constexpr double kProjectionTolerance = 1e-7;

/// One cluster with penalised bonds.
class StiffCluster {
 public:
  StiffCluster(ForceField& force_field, const ClusterMasses& masses, double omega)
      : force_field_(force_field),
        omega_(omega),
        masses_(masses),
        reference_(bond_reference(force_field.model())),
        forces_(static_cast<std::size_t>(kCoordinates * force_field.molecules())) {
    choose_window();
  }

  /// Calls op with the masses of the molecule of coordinate k.
  template <class Op>
  auto masses_of(Index k, const Op& op) const {
    return masses_.of(static_cast<std::size_t>(k / kCoordinates), op);
  }
  VectorXd acceleration(const VectorXd& x) {
    nonbonded(x);
    VectorXd a(x.size());
    for (Index k = 0; k < x.size(); k += kCoordinates) {
      const Triple<double> f = load_molecule(&forces_[static_cast<std::size_t>(k)]) +
                               penalty_force(load_molecule(&x[k]), reference_, omega_);
      masses_of(k, [&](const auto& m) { store_molecule(over_masses(m, f), &a[k]); });
    }
    return a;
  }

  VectorXd bonds_and_rates(const VectorXd& x, const VectorXd& v) const {
    VectorXd values(kValues * x.size() / kCoordinates);
    for (Index k = 0, c = 0; k < x.size(); k += kCoordinates, c += kValues) {
      const Bonds<double> b = bonds(load_molecule(&x[k]));
      const BondValues<double> g = constraint_values(b, reference_);
      const BondValues<double> rates = apply_jacobian(b, load_molecule(&v[k]));
      values.segment<kValues>(c) << omega_ * g.oh1, omega_ * g.oh2, omega_ * g.hh, rates.oh1,
          rates.oh2, rates.hh;
    }
    return values;
  }

  /// Moves to the mean that a filter without residual vibration would give.
  void move(const VectorXd& mean, VectorXd& x, VectorXd& v) const {
    const VectorXd now = bonds_and_rates(x, v);
    for (Index k = 0, c = 0; k < x.size(); k += kCoordinates, c += kValues) {
      const auto slow = [&](Index at) {
        const Eigen::Vector3d here = now.segment<3>(at);
        const auto molecule = static_cast<std::size_t>(k / kCoordinates) % unfilter_.size();
        return Eigen::Vector3d(here + unfilter_[molecule] * (mean.segment<3>(at) - here));
      };
      const Eigen::Vector3d g = slow(c) / omega_, rates = slow(c + 3);
      Triple<double> positions = load_molecule(&x[k]), velocities = load_molecule(&v[k]);
      masses_of(k, [&](const auto& m) {
        move_bonds<double, double>({g[0], g[1], g[2]}, {rates[0], rates[1], rates[2]}, reference_,
                                   m, positions, velocities);
      });
      store_molecule(positions, &x[k]);
      store_molecule(velocities, &v[k]);
    }
  }

  double fast_energy(const VectorXd& x, const VectorXd& v) {
    nonbonded(x);
    double sum = 0.0;
    for (Index k = 0; k < x.size(); k += kCoordinates) {
      sum += masses_of(k, [&](const auto& m) {
        return fast_bond_energy(load_molecule(&x[k]), load_molecule(&v[k]),
                                load_molecule(&forces_[static_cast<std::size_t>(k)]), reference_, m,
                                omega_);
      });
    }
    return sum;
  }

  const SlowWindow& window() const { return window_; }

 private:
  /// Chooses a window for the bond vibrations of the molecules, whose squared frequencies are the
  /// eigenvalues of omega^2 J M^-1 J^T, and the factor 1 / (1 - response of the filter) for each.
  void choose_window() {
    const WaterModel& model = force_field_.model();
    const double half = 0.5 * model.r_hh_A();
    const double height = std::sqrt(model.r_oh_A * model.r_oh_A - half * half);
    const Triple<double> rigid{{0.0, 0.0, 0.0}, {half, height, 0.0}, {-half, height, 0.0}};
    std::vector<dense::Spectrum3> modes;
    double lowest = std::numeric_limits<double>::infinity(), highest = 0.0;
    for (std::size_t m = 0; m < std::max<std::size_t>(masses_.isotopes.size(), 1); ++m) {
      const SymmetricMatrix3<double> s =
          masses_.of(m, [&](const auto& own) { return bond_matrix(bonds(rigid), own, 0.0); });
      Eigen::Matrix3d matrix;
      matrix << s.s11, s.s12, s.s13, s.s12, s.s22, s.s23, s.s13, s.s23, s.s33;
      modes.push_back(dense::symmetric_spectrum(matrix));
      lowest = std::min(lowest, omega_ * std::sqrt(modes.back().values[0]));
      highest = std::max(highest, omega_ * std::sqrt(modes.back().values[2]));
    }
    window_ = slow_window(lowest, highest);
    for (const dense::Spectrum3& own : modes) {
      const Eigen::Vector3d factors = (omega_ * own.values.cwiseSqrt()).unaryExpr([&](double f) {
        return 1.0 / (1.0 - filter_response(window_, f));
      });
      unfilter_.push_back(own.vectors * factors.asDiagonal() * own.vectors.transpose());
    }
  }
  void nonbonded(const VectorXd& x) {
    force_field_.energy_and_forces({x.data(), static_cast<std::size_t>(x.size())}, forces_);
  }

  ForceField& force_field_;
  double omega_;
  const ClusterMasses& masses_;
  BondReference<double> reference_;
  std::vector<double> forces_;
  SlowWindow window_;
  std::vector<Eigen::Matrix3d> unfilter_;  ///< of each molecule of isotopes, or of all
};

}  // namespace

SlowManifoldStart project_onto_slow_manifold(ForceField& force_field, const ClusterMasses& masses,
                                             double omega, std::span<double> positions_A,
                                             std::span<double> velocities_A_per_akma) {
  const auto size = static_cast<Index>(positions_A.size());
  Eigen::Map<VectorXd> positions(positions_A.data(), size),
      velocities(velocities_A_per_akma.data(), size);
  VectorXd x = positions, v = velocities;
  StiffCluster cluster(force_field, masses, omega);
  SlowManifoldStart result;
  result.fast_before_kcal_per_mol = cluster.fast_energy(x, v);
  SlowProjection projection;
  projection.acceleration = [&](const VectorXd& y) { return cluster.acceleration(y); };
  projection.constraints = [&](const VectorXd& y, const VectorXd& w) {
    return cluster.bonds_and_rates(y, w);
  };
  projection.averaged = projection.constraints;
  projection.move = [&](const VectorXd& mean, VectorXd& y, VectorXd& w) {
    cluster.move(mean, y, w);
  };
  projection.window = cluster.window();
  projection.tolerance = kProjectionTolerance;
  result.iterations = move_to_slow_point(projection, x, v);
  result.fast_after_kcal_per_mol = cluster.fast_energy(x, v);
  positions = x;
  velocities = v;
  return result;
}

}  // namespace tarn::start
