#include "tarn/minimise.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "analysis/isomers.hpp"
#include "molecule_frame.hpp"
#include "quenches.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/modes.hpp"
#include "tarn/start.hpp"
#include "tarn/state.hpp"

namespace tarn {
namespace {

/// Below the energy of any water cluster [kcal/mol per molecule]: the molecules have dissociated.
constexpr double kDissociated = -200.0;
/// Largest displacement of an atom in a push off a saddle point.
constexpr double kPush_A = 0.1;
/// Larger numbers of successive saddle points are caused by rounding.
constexpr int kMaxSaddlePoints = 20;

/// A fourth derivative of the energy along a soft mode, divided by six [kcal/mol/A^4]: with a
/// displacement d, differences of forces have an error of this times d^2.
constexpr double kFourthDerivative = 400.0;

void check_size(const ForceField& force_field, std::span<const double> positions_A) {
  if (positions_A.size() != 9 * static_cast<std::size_t>(force_field.molecules())) {
    throw InputError(fmt::format(
        "{} coordinates do not match a cluster of {} molecules, which has 9 per molecule",
        positions_A.size(), force_field.molecules()));
  }
}

/// Whether second derivatives are differences of forces.
bool by_differences(const start::Surface& surface) {
  return surface.potential || surface.model.is_many_body();
}

bool can_find_saddle_points(const start::Surface& surface) {
  const int most =
      by_differences(surface) ? kMostSaddleMolecules : most_mode_molecules(!surface.is_soft());
  return surface.molecules <= most;
}

/// The potential of a task of Quenches.
class PotentialOfTask final : public Potential {
 public:
  explicit PotentialOfTask(start::Quenches& quenches) : quenches_(quenches) {}
  void compute(std::span<const double> positions_A, std::span<const std::int64_t> image_ids,
               std::span<double> energies_kcal_per_mol,
               std::span<double> forces_kcal_per_mol_A) override {
    quenches_.compute_images(positions_A, image_ids, energies_kcal_per_mol, forces_kcal_per_mol_A);
  }
  std::string name() const override { return quenches_.surface().potential->name(); }

 private:
  start::Quenches& quenches_;
};

/// The displacements of the lowest mode at a stationary point if its curvature is below minus a
/// threshold, else empty.
std::vector<double> descending_mode(start::Quenches& quenches, std::span<const double> positions_A,
                                    double tolerance_kcal_per_mol_A) {
  const start::Surface& surface = quenches.surface();
  // With a smaller curvature the push would not lead to forces above the tolerance.
  const double curvature = tolerance_kcal_per_mol_A / kPush_A;
  const WaterModel& model = surface.model;
  NormalModes modes;
  if (by_differences(surface)) {
    // The errors of the forces and of the truncation are then about equal.
    const double displacement_A = std::cbrt(tolerance_kcal_per_mol_A / kFourthDerivative);
    if (surface.potential) {
      PotentialOfTask potential(quenches);
      modes = normal_modes(model, positions_A, potential, displacement_A);
    } else {
      modes = normal_modes(model, positions_A);
    }
    const double lowest = modes.modes.front().wavenumber_per_cm / units::wavenumber_per_cm(1.0);
    if (!(lowest < -std::sqrt(curvature))) return {};
  } else {
    if (!has_negative_curvature(model, positions_A, curvature)) return {};
    modes = normal_modes(model, positions_A);
  }
  modes.displacements_per_sqrt_Da.resize(positions_A.size());
  return std::move(modes.displacements_per_sqrt_Da);
}

/// Hydrogens have no repulsion: a dissociated hydrogen falls into the oxygen of another molecule.
/// @throws NumericalError
void check_dissociation(const start::Surface& surface, const MinimiseResult& result) {
  if (!surface.omega ||
      result.energy_kcal_per_mol > kDissociated * std::max(1, surface.molecules)) {
    return;
  }
  throw NumericalError(
      fmt::format("omega = {:g} is too small: molecules dissociate during the relaxation. Use a "
                  "larger omega, or set relax = false in the deck",
                  *surface.omega));
}

MinimiseResult quench_alone(const start::Surface& surface, std::span<double> positions_A,
                            const MinimiseOptions& options) {
  return start::run_alone(surface, options, [&](start::Quenches& quenches) -> start::QuenchTask {
    co_return co_await quenches.quench(positions_A, options.tolerance_kcal_per_mol_A,
                                       options.max_iterations);
  });
}

start::Surface surface_of(const ForceField& force_field) {
  return {force_field.model(), force_field.molecules(), force_field.potential()};
}

}  // namespace

MinimiseResult quench(ForceField& force_field, std::span<double> positions_A,
                      const MinimiseOptions& options) {
  check_size(force_field, positions_A);
  return quench_alone(surface_of(force_field), positions_A, options);
}

MinimiseResult quench_to_minimum(ForceField& force_field, std::span<double> positions_A,
                                 const MinimiseOptions& options) {
  check_size(force_field, positions_A);
  return start::run_alone(surface_of(force_field), options, [&](start::Quenches& quenches) {
    return start::quench_to_minimum(quenches, positions_A, options.tolerance_kcal_per_mol_A,
                                    options.max_iterations);
  });
}

start::QuenchTask start::quench_to_minimum(Quenches& quenches, std::span<double> positions_A,
                                           double tolerance_kcal_per_mol_A, int most_iterations) {
  const Surface& surface = quenches.surface();
  MinimiseResult here =
      co_await quenches.quench(positions_A, tolerance_kcal_per_mol_A, most_iterations);
  if (!can_find_saddle_points(surface)) co_return here;
  // Without exact second derivatives, a mode may only seem to descend.
  const double least_descent =
      surface.potential ? analysis::kSameMinimum_A * tolerance_kcal_per_mol_A : 0.0;
  while (here.converged && here.saddle_points < kMaxSaddlePoints) {
    const std::vector<double> lowest =
        descending_mode(quenches, positions_A, tolerance_kcal_per_mol_A);
    if (lowest.empty()) break;
    const double largest =
        std::abs(*std::max_element(lowest.begin(), lowest.end(),
                                   [](double a, double b) { return std::abs(a) < std::abs(b); }));
    const std::vector<double> saddle(positions_A.begin(), positions_A.end());
    const double below = here.energy_kcal_per_mol - least_descent;
    MinimiseResult lower = here;
    int iterations = here.iterations;
    for (const double push : {kPush_A / largest, -kPush_A / largest}) {
      std::vector<double> x = saddle;
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += push * lowest[i];
      const MinimiseResult r =
          co_await quenches.quench(x, tolerance_kcal_per_mol_A, most_iterations);
      iterations += r.iterations;
      if (!(r.energy_kcal_per_mol < std::min(lower.energy_kcal_per_mol, below))) continue;
      lower = r;
      std::copy(x.begin(), x.end(), positions_A.begin());
    }
    const bool left = lower.energy_kcal_per_mol < here.energy_kcal_per_mol;
    lower.start_energy_kcal_per_mol = here.start_energy_kcal_per_mol;
    lower.iterations = iterations;
    lower.saddle_points = here.saddle_points + (left ? 1 : 0);
    here = lower;
    if (!left) break;
  }
  co_return here;
}

start::QuenchTask start::relax(Quenches& quenches, std::span<double> positions_A) {
  const Surface& surface = quenches.surface();
  std::vector<double> x(positions_A.begin(), positions_A.end());
  const MinimiseResult r =
      co_await quenches.quench(x, 1e-7, std::min(2'000, max_quench_iterations(surface.molecules)));
  check_dissociation(surface, r);
  std::ranges::copy(x, positions_A.begin());
  co_return r;
}

MinimiseResult relax_penalised(ForceField& force_field, double omega, std::span<double> positions_A,
                               const MinimiseOptions& options) {
  check_size(force_field, positions_A);
  if (force_field.is_flexible()) {
    throw InputError(force_field.potential() ? "molecules of a potential have no penalty"
                                             : "flexible water models have no penalty");
  }
  if (force_field.model().is_many_body()) throw InputError("many-body models have no penalty");
  if (!(omega > 0.0) || !std::isfinite(omega)) {
    throw InputError("omega must be positive and finite to relax a penalised cluster");
  }
  start::Surface surface = surface_of(force_field);
  surface.omega = omega;
  std::vector<double> relaxed(positions_A.begin(), positions_A.end());
  const MinimiseResult result = quench_alone(surface, relaxed, options);
  check_dissociation(surface, result);
  std::ranges::copy(relaxed, positions_A.begin());
  return result;
}

RigidFit fit_rigid_geometry(const WaterModel& model, std::span<double> positions_A) {
  const start::Triangle triangle(model);
  RigidFit fit;
  for (std::size_t m = 0; m < positions_A.size() / 9; ++m) {
    double* x = &positions_A[9 * m];
    const Eigen::Matrix3d old = Eigen::Map<const Eigen::Matrix3d>(x);
    start::MoleculeFrame frame;
    if (!start::MoleculeFrame::nearest_rigid(model, x, frame)) start::throw_degenerate(m);
    frame.place(triangle, x);
    const double move = (Eigen::Map<const Eigen::Matrix3d>(x) - old).colwise().norm().maxCoeff();
    if (move > fit.largest_move_A) fit = {move, static_cast<int>(m)};
  }
  return fit;
}

std::vector<MinimiseResult> minimise_clusters(const WaterModel& model, int molecules,
                                              std::span<double> positions_A,
                                              const DeviceRequest& device,
                                              const MinimiseOptions& options) {
  const std::size_t size =
      static_cast<std::size_t>(molecules > 0 ? molecules : 0) * kCoordinatesPerMolecule;
  if (size == 0 || positions_A.size() % size != 0) {
    throw InputError(fmt::format("minimise: {} coordinates are not whole clusters of {} molecules",
                                 positions_A.size(), molecules));
  }
  const std::string where = "positions";
  const auto name_of = [&](std::size_t at) {
    return size == positions_A.size() ? where : fmt::format("{}[{}]", where, at / size);
  };
  const bool flexible = device.potential != nullptr || model.is_flexible();
  std::vector<Problem> problems;  // of all clusters
  for (std::size_t at = 0; at < positions_A.size(); at += size) {
    std::ranges::move(
        io::bond_length_problems(model, flexible, positions_A.subspan(at, size), name_of(at)),
        std::back_inserter(problems));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  for (std::size_t at = 0; at < positions_A.size() && !flexible; at += size) {
    make_rigid(model, positions_A.subspan(at, size), name_of(at));
  }
  std::mutex one_at_a_time;
  MinimiseOptions shared = options;
  if (options.should_continue) {
    shared.should_continue = [&] {
      const std::lock_guard lock(one_at_a_time);
      return options.should_continue();
    };
  }
  if (options.on_iteration) {
    shared.on_iteration = [&](const MinimiseResult& result) {
      const std::lock_guard lock(one_at_a_time);
      options.on_iteration(result);
    };
  }
  std::vector<MinimiseResult> results(positions_A.size() / size);
  const auto minimise = [&](start::Quenches& quenches, std::int64_t r) -> start::QuenchTask {
    const auto cluster = static_cast<std::size_t>(r);
    try {
      co_return results[cluster] = co_await start::quench_to_minimum(
          quenches, positions_A.subspan(cluster * size, size), options.tolerance_kcal_per_mol_A,
          options.max_iterations);
    } catch (const NumericalError& error) {
      throw NumericalError(fmt::format("{}: {}", name_of(cluster * size), error.what()));
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", name_of(cluster * size), error.what()));
    }
  };
  start::run_quenches({model, molecules, device.potential, {}, device.name}, shared,
                      start::first_ids(std::ssize(results)), device.threads, minimise);
  return results;
}

}  // namespace tarn
