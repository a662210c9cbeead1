#include "quenches.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/parallel.hpp"
#include "cpu/layout.hpp"
#include "engine/device_engine.hpp"
#include "interface/measure.hpp"
#include "kernels/device_probe.hpp"
#include "kernels/layout.hpp"
#include "kernels/quench.hpp"
#include "molecule_frame.hpp"
#include "physics/penalty.hpp"
#include "steps/step_parameters.hpp"
#include "tarn/cluster_forces.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/number.hpp"

namespace tarn::start {
namespace {

/// Second derivative of the energy of a real O-H bond by its length [kcal/mol/A^2].
constexpr double kRealBondStiffness = 1200.0;

QuenchRules rules_of(const Surface& surface) {
  const WaterModel& model = surface.model;
  QuenchRules rules;
  rules.rigid = !surface.is_soft();
  rules.noisy = surface.potential != nullptr;
  rules.r_oh_A = model.r_oh_A;
  if (rules.rigid) return rules;
  rules.longest = 0.1;
  // g changes by 2 r per change of a bond length r.
  const double stiffness = surface.omega ? std::pow(2.0 * model.r_oh_A * *surface.omega, 2)
                           : model.is_flexible()
                               ? stretch_potential(model.r_oh_A, flexible_parameters(model)).second
                               : kRealBondStiffness;
  // Coordinates round to 1e-15 A, g to 4e-15 A^2; its force is 2 |d| omega^2 times that.
  if (surface.omega) rules.bond_rounding = 2e-14 * *surface.omega * *surface.omega;
  rules.bond_unit_A = std::sqrt(kQuenchStiffness / stiffness);
  return rules;
}

bool has_only_pairs(const Surface& surface) {
  return !surface.potential && !surface.omega && !surface.model.is_many_body();
}

/// The CUDA device of a thread; nothing: the CPU.
std::optional<int> cuda_device_of(const Surface& surface, int thread) {
  check_device(surface.device);
  const auto devices = parse_cuda_devices(surface.device);
  if (!devices || !has_only_pairs(surface) || surface.molecules > gpu::kMostInWarp) {
    return std::nullopt;
  }
  if (devices->all) {
    return thread % std::max(1, static_cast<int>(probe_devices().devices.size()));
  }
  return devices->indices[static_cast<std::size_t>(thread) % devices->indices.size()];
}

const char* likely_cause(const Surface& surface) {
  if (surface.potential) return "the potential returned an energy or force that is not";
  return surface.model.is_many_body() ? "molecules are too close, or an O-H bond is broken"
                                      : "atoms of two molecules may coincide";
}

}  // namespace

/// Energies and forces of several clusters, and the memory for them.
struct Quenches::Forces {
  std::optional<ClusterForces> of_model;
  std::optional<cpu::SmallClusterForces> in_packs;  ///< if nothing else acts
  std::vector<std::int64_t> ids;
  std::vector<double> positions_A, energies, forces;

  void compute(const Surface& surface) {
    if (in_packs) {
      in_packs->compute(static_cast<int>(energies.size()), positions_A.data(), energies.data(),
                        forces.data());
    } else if (of_model) {
      of_model->compute(positions_A, energies, forces);
    } else {
      std::ranges::fill(energies, kNoNumber);
      std::ranges::fill(forces, kNoNumber);
      surface.potential->compute(positions_A, ids, energies, forces);
    }
    if (!surface.omega) return;
    const BondReference<double> reference = bond_reference(surface.model);
    for (std::size_t m = 0; m < forces.size() / 9; ++m) {
      const Triple<double> x = molecule_at(positions_A.data(), m);
      energies[m / static_cast<std::size_t>(surface.molecules)] +=
          penalty_energy(x, reference, *surface.omega);
      put_molecule(molecule_at(forces.data(), m) + penalty_force(x, reference, *surface.omega),
                   forces.data(), m);
    }
  }
};

Quenches::Quench::Quench(Quenches& quenches, std::span<double> positions_A,
                         double tolerance_kcal_per_mol_A, int most_iterations)
    : quenches_(quenches),
      positions_A_(positions_A),
      tolerance_kcal_per_mol_A_(tolerance_kcal_per_mol_A),
      most_iterations_(most_iterations) {
  const Surface& surface = quenches.surface_;
  if (!surface.is_soft()) {
    fit_rigid_geometry(surface.model, positions_A);
    return;
  }
  MoleculeFrame frame;
  for (std::size_t m = 0; m < positions_A.size() / 9; ++m) {
    if (!MoleculeFrame::nearest_rigid(surface.model, &positions_A[9 * m], frame)) {
      throw_degenerate(m);
    }
  }
}
void Quenches::Quench::await_suspend(std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  quenches_.seats_[quenches_.now_].quench = this;
  if (quenches_.cuda_) return;
  quenches_.group(quenches_.now_)
      .begin(quenches_.cluster(quenches_.now_), positions_A_, tolerance_kcal_per_mol_A_,
             most_iterations_);
}
MinimiseResult Quenches::Quench::await_resume() const {
  if (is_finite_) return result_;
  throw NumericalError(fmt::format(
      "the energy of the structure is not finite: {}. Correct the structure before minimising it",
      likely_cause(quenches_.surface_)));
}

Quenches::Quenches(const Surface& surface, MinimiseOptions options, const ImageIds& ids,
                   std::int64_t most_seats, int thread)
    : surface_(surface),
      options_(std::move(options)),
      ids_(ids),
      rules_(rules_of(surface)),
      forces_(std::make_unique<Forces>()) {
  cuda_ = cuda_device_of(surface, thread);
  if (cuda_) {
    seats_.resize(static_cast<std::size_t>(most_seats));
    return;
  }
  if (has_only_pairs(surface) && !surface.model.has_field() &&
      cpu::is_small_cluster(surface.molecules)) {
    forces_->in_packs.emplace(surface.model, surface.molecules);
  } else if (!surface.potential) {
    forces_->of_model.emplace(surface.model, surface.molecules, DeviceRequest{"cpu", 1});
  }
  groups_.emplace_back(surface.molecules, rules_);
  clusters_ = static_cast<std::size_t>(groups_.front().clusters());
  const std::size_t most = surface.potential ? kMostSeats : clusters_;
  seats_.resize(std::clamp<std::size_t>(static_cast<std::size_t>(most_seats), 1, most));
  while (groups_.size() * clusters_ < seats_.size()) {
    groups_.emplace_back(surface.molecules, rules_);
  }
}
Quenches::~Quenches() = default;

void Quenches::end_task(Seat& seat) {
  if (!seat.task->has_ended()) return;
  seat.task->await_resume();
  seat.task.reset();
}

void Quenches::seat_tasks(const std::function<std::optional<QuenchTask>()>& next) {
  for (now_ = 0; now_ < seats_.size(); ++now_) {
    Seat& seat = seats_[now_];
    while (!seat.task && !no_more_) {
      seat.task = next();
      seat.number = begun_++;
      if (!seat.task) {
        no_more_ = true;
        return;
      }
      seat.task->begin();
      end_task(seat);
    }
  }
}

void Quenches::compute_images(std::span<const double> positions_A, std::span<const std::int64_t> k,
                              std::span<double> energies_kcal_per_mol,
                              std::span<double> forces_kcal_per_mol_A) {
  std::vector<std::int64_t> ids;
  for (const std::int64_t image : k) {
    ids.push_back(ids_.of_tasks[static_cast<std::size_t>(seats_[now_].number)] +
                  ids_.stride * image);
  }
  try {
    surface_.potential->compute(positions_A, ids, energies_kcal_per_mol, forces_kcal_per_mol_A);
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
}

void Quenches::evaluate(std::span<const std::size_t> seats) {
  if (forces_->in_packs && !forces_->in_packs->takes_one_by_one(static_cast<int>(seats.size()))) {
    groups_.front().compute_forces(*forces_->in_packs);
    return groups_.front().step();
  }
  const std::size_t numbers = 9 * static_cast<std::size_t>(surface_.molecules);
  forces_->ids.clear();
  forces_->positions_A.resize(seats.size() * numbers);
  forces_->forces.resize(seats.size() * numbers);
  forces_->energies.resize(seats.size());
  std::size_t at = 0;
  for (const std::size_t seat : seats) {
    const auto task = static_cast<std::size_t>(seats_[seat].number);
    if (surface_.potential) forces_->ids.push_back(ids_.of_tasks[task]);
    group(seat).get_trial(cluster(seat),
                          std::span(forces_->positions_A).subspan(at++ * numbers, numbers));
  }
  forces_->compute(surface_);
  at = 0;
  for (const std::size_t seat : seats) {
    const std::span<const double> forces(&forces_->forces[at * numbers], numbers);
    group(seat).put_forces(cluster(seat), forces_->energies[at], forces);
    ++at;
  }
  for (std::size_t first = 0; first < seats_.size(); first += clusters_) group(first).step();
}

void Quenches::quench_on_device(std::span<const std::size_t> seats) {
  System system;
  system.model = surface_.model;
  system.molecules = surface_.molecules;
  system.integrator.scheme = Scheme::verlet;
  const std::size_t size = 9 * static_cast<std::size_t>(surface_.molecules);
  constexpr std::size_t kNumbers = QuenchNumber::kNumbers;
  std::vector<double> positions_A, numbers(seats.size() * kNumbers, 0.0);
  std::size_t at = 0;
  for (const std::size_t seat : seats) {
    const Quench& quench = *seats_[seat].quench;
    positions_A.insert(positions_A.end(), quench.positions_A_.begin(), quench.positions_A_.end());
    begin_quench(quench.tolerance_kcal_per_mol_A_, quench.most_iterations_,
                 [&](int k, double value) { numbers[at + static_cast<std::size_t>(k)] = value; });
    at += kNumbers;
  }
  quench_on_cuda(system, rules_, *cuda_, positions_A, numbers, options_.should_continue);
  std::vector<std::size_t> places(seats_.size());
  for (std::size_t i = 0; i < seats.size(); ++i) {
    std::copy_n(&positions_A[i * size], size, seats_[seats[i]].quench->positions_A_.begin());
    places[seats[i]] = i;
  }
  end_quenches(seats, [&](std::size_t seat, int k) {
    return numbers[places[seat] * kNumbers + static_cast<std::size_t>(k)];
  });
}

void Quenches::end_quenches(std::span<const std::size_t> seats,
                            const std::function<double(std::size_t seat, int k)>& number_of) {
  using N = QuenchNumber;
  const bool goes_on = !options_.should_continue || options_.should_continue();
  for (const std::size_t seat : seats) {
    const auto number = [&](int k) { return number_of(seat, k); };
    const auto status = static_cast<int>(number(N::kStatus));
    Quench& quench = *seats_[seat].quench;
    quench.result_ = {number(N::kStartEnergy), number(N::kEnergy), number(N::kGradient),
                      static_cast<int>(number(N::kIterations)), status == kQuenchConverged};
    quench.is_finite_ = status != kQuenchNotFinite;
    if (status == kQuenchRuns && goes_on && !cuda_) {
      if (options_.on_iteration && number(N::kTries) == 0.0) options_.on_iteration(quench.result_);
      continue;
    }
    if (!cuda_) {
      group(seat).get_positions(cluster(seat), quench.positions_A_);
      group(seat).end(cluster(seat));
    }
    if (rules_.rigid) fit_rigid_geometry(surface_.model, quench.positions_A_);
    now_ = seat;
    seats_[seat].quench = nullptr;
    quench.waiting_.resume();
    // Also if the task has caught it.
    if (failure_) std::rethrow_exception(failure_);
    end_task(seats_[seat]);
  }
}

void Quenches::run(const std::function<std::optional<QuenchTask>()>& next) {
  std::vector<std::size_t> waiting;
  for (;;) {
    seat_tasks(next);
    waiting.clear();
    for (std::size_t seat = 0; seat < seats_.size(); ++seat) {
      if (seats_[seat].quench) waiting.push_back(seat);
    }
    if (waiting.empty()) return;
    std::ranges::sort(waiting, {}, [&](std::size_t seat) { return seats_[seat].number; });
    if (cuda_) {
      quench_on_device(waiting);
      continue;
    }
    evaluate(waiting);
    end_quenches(waiting,
                 [&](std::size_t seat, int k) { return group(seat).number(cluster(seat), k); });
  }
}

ImageIds first_ids(std::int64_t n) {
  ImageIds ids{std::vector<std::int64_t>(static_cast<std::size_t>(n)), n};
  std::iota(ids.of_tasks.begin(), ids.of_tasks.end(), 0);
  return ids;
}

void run_quenches(const Surface& surface, const MinimiseOptions& options, const ImageIds& ids,
                  int threads,
                  const std::function<QuenchTask(Quenches&, std::int64_t i)>& make_task) {
  const std::int64_t n = std::ssize(ids.of_tasks);
  std::atomic<std::int64_t> begun = 0;
  const int team = surface.potential ? 1 : SharedLoop(n).team(threads);
  FirstException caught;
  run_team(team, [&](int thread, int) {
    caught.call([&] {
      Quenches quenches(surface, options, ids, (n + team - 1) / team, thread);
      quenches.run([&]() -> std::optional<QuenchTask> {
        const std::int64_t i = begun++;
        if (i >= n || caught.has_caught()) return std::nullopt;
        return make_task(quenches, i);
      });
    });
  });
  caught.rethrow();
}

MinimiseResult run_alone(const Surface& surface, const MinimiseOptions& options,
                         const std::function<QuenchTask(Quenches&)>& make_task) {
  MinimiseResult result;
  const auto keep_result = [&](Quenches& quenches, std::int64_t) -> QuenchTask {
    co_return result = co_await make_task(quenches);
  };
  run_quenches(surface, options, {}, 1, keep_result);
  return result;
}

}  // namespace tarn::start
