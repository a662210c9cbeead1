#include "ring_engine.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "aligned.hpp"
#include "block_measure.hpp"
#include "core/parallel.hpp"
#include "core/processors.hpp"
#include "flush_denormals.hpp"
#include "group.hpp"
#include "group_forces.hpp"
#include "interface/measure.hpp"
#include "interface/moments.hpp"
#include "pair_histograms.hpp"
#include "ring_tables.hpp"
#include "stage_clock.hpp"
#include "tarn/core/error.hpp"
#include "tarn/flat_coordinates.hpp"
#include "tarn/physics/confinement.hpp"
#include "tarn/physics/geometry.hpp"

namespace tarn::cpu {
namespace {

/// The ring polymer of one replica, in packs of modes.
struct Ring {
  std::int64_t id = 0;
  const RingTable* table = nullptr;
  AlignedVector<double> q, v, f;    ///< [pack of modes][molecule][9][lane]
  AlignedVector<double> v_thermal;  ///< with BAOAB; NaN before the first noise
  AlignedVector<double> heat;       ///< [pack of modes][molecule][lane]; empty if not tallied
  AlignedVector<double> kept_q, kept_v, kept_heat;  ///< the last good state
  bool stopped = false;
  BlowUp blow_up;
};

/// Work space of one thread.
struct RingSpace {
  Group beads;  ///< a block of beads in lanes
  WorkSpace forces;
  AlignedVector<double> x, f;  ///< of all beads, [pack of beads][molecule][9][lane]
  AlignedVector<double> energies, numbers;
  std::vector<double> one;
};

struct alignas(64) ThreadTotals {
  PairHistograms pairs;
  EngineReport report;
};

class RingEngine final : public Engine {
 public:
  RingEngine(const System& system, const State& start, const PairCountRequest& counts, int threads,
             const KernelTable& kernels)
      : system_(system),
        kernels_(kernels),
        n_(system.molecules),
        beads_(system.path_integral.beads),
        threads_(threads > 0 ? threads : default_threads()),
        layout_(system, kernels.lanes),
        padded_((beads_ + layout_.wide_slots() - 1) / layout_.wide_slots() * layout_.wide_slots()),
        packs_(padded_ / kernels.lanes),
        forces_(system, layout_, kernels),
        bonds_(flexible_parameters(system.model)),
        matrices_(beads_, padded_, kernels.lanes),
        step_(start.step),
        counting_(counts),
        measure_(system),
        tallies_heat_(!start.heat_kcal_per_mol.empty()),
        centroids_(make_groups(layout_, centroid_state(start), system.thermostat, threads_)),
        blocks_(system_, layout_, kernels_, static_cast<std::int64_t>(start.replica_ids.size())) {
    spaces_.resize(static_cast<std::size_t>(threads_));
    totals_.resize(spaces_.size());
    load(start);
    for_each_ring([&](Ring& ring, RingSpace& space, ThreadTotals&) { prepare(ring, space); });
  }

  void advance(std::int64_t n_steps) override {
    while (n_steps > 0) {
      const std::int64_t n = steps_to_lindemann(settings_.lindemann, step_, n_steps);
      for_each_ring([&](Ring& ring, RingSpace& space, ThreadTotals& totals) {
        advance_ring(ring, space, totals, n);
      });
      step_ += n;
      n_steps -= n;
      if (is_due(settings_.lindemann, step_)) add_distances();
    }
  }
  std::int64_t step() const override { return step_; }

  void measure_with(const MeasureSettings& settings) override {
    settings_ = settings;
    moment_groups_ = ReplicaGroups(settings.moment_groups);
    if (!settings.lindemann.enabled) return;
    blocks_.begin_sums(settings.lindemann_sums, ids());
    settings_.lindemann_sums = {};
    if (settings.lindemann_sums.samples == 0 && is_due(settings_.lindemann, step_)) {
      add_distances();
    }
  }

  void exchange(std::span<const StateExchange> pairs) override {
    if (!pairs.empty()) throw InputError("ring polymers do not exchange states");
  }

  State state() const override;
  void snapshot(unsigned fields, Frame& frame) override;

  std::vector<BlowUp> blow_ups() const override {
    std::vector<BlowUp> all;
    for (const Ring& ring : rings_) {
      if (ring.stopped) all.push_back(ring.blow_up);
    }
    std::sort(all.begin(), all.end(),
              [](const BlowUp& a, const BlowUp& b) { return a.replica < b.replica; });
    return all;
  }
  EngineReport report() const override {
    EngineReport sum;
    for (const ThreadTotals& t : totals_) sum += t.report;
    return sum;
  }
  std::string description() const override { return cpu_description(arithmetic(), threads_); }
  std::string arithmetic() const override { return std::string("CPU, ") + kernels_.name; }

 private:
  std::size_t coordinates() const { return 9 * static_cast<std::size_t>(n_); }
  std::size_t size() const { return coordinates() * static_cast<std::size_t>(padded_); }
  double h() const { return system_.integrator.timestep_akma; }
  /// Place of coordinate c of molecule m of a bead or mode.
  std::size_t at(int number, int m, int c) const {
    const int lanes = kernels_.lanes;
    return pack_index(lanes, static_cast<std::size_t>(number / lanes * n_ + m), c, number % lanes);
  }
  std::size_t heat_at(int mode, int m) const {
    const int lanes = kernels_.lanes;
    return static_cast<std::size_t>((mode / lanes * n_ + m) * lanes + mode % lanes);
  }
  std::vector<std::int64_t> ids() const {
    std::vector<std::int64_t> all;
    for (const Ring& ring : rings_) all.push_back(ring.id);
    return all;
  }
  /// The centroids as the state of classical replicas, with the numbers of the start.
  State centroid_state(const State& start) const;
  void load(const State& start);

  /// Calls op(ring, space, totals) for each ring polymer, on one thread each.
  template <class Op>
  void for_each_ring(const Op& op) {
    for_each_index(
        static_cast<std::int64_t>(rings_.size()), threads_,
        [&](int rank) {
          const auto r = static_cast<std::size_t>(rank);
          prepare_space(spaces_[r]);
          totals_[r].pairs.prepare(counting_);
          return r;
        },
        [&](std::size_t rank, std::int64_t k) {
          const FlushDenormals flush;
          op(rings_[static_cast<std::size_t>(k)], spaces_[rank], totals_[rank]);
        });
  }
  void prepare_space(RingSpace& space) const;
  RingPacks packs_of(Ring& ring) const {
    return {ring.q.data(),
            ring.v.data(),
            ring.f.data(),
            ring.v_thermal.empty() ? nullptr : ring.v_thermal.data(),
            ring.heat.empty() ? nullptr : ring.heat.data(),
            n_,
            packs_,
            static_cast<std::uint64_t>(ring.id),
            system_.model.mass_o_Da,
            system_.model.mass_h_Da};
  }
  bool pass(Ring& ring, std::int64_t noise_step, bool end, bool begin) const {
    return kernels_.rings.pass[static_cast<int>(system_.thermostat.kind)](
        ring.table->constants(), packs_of(ring), h(), kLargestSpeed2 * beads_, system_.seed,
        noise_step, end, begin);
  }
  /// Beads from modes.
  void place_beads(const Ring& ring, RingSpace& space) const {
    kernels_.rings.transform(matrices_.to_beads(packs_, 9 * n_), ring.q.data(), space.x.data());
  }
  /// Forces on the modes at space.x.
  void compute_forces(Ring& ring, RingSpace& space, EngineReport& report, StageClock& clock) const;
  void prepare(Ring& ring, RingSpace& space);
  void advance_ring(Ring& ring, RingSpace& space, ThreadTotals& totals, std::int64_t n_steps);
  void keep(Ring& ring) const {
    ring.kept_q = ring.q;
    ring.kept_v = ring.v;
    ring.kept_heat = ring.heat;
  }
  void stop(Ring& ring, std::int64_t step, int molecule) const;
  int bad_molecule(const Ring& ring) const;
  void count_pairs(const Ring& ring, const RingSpace& space, PairHistograms& pairs) const;

  void update_centroids();
  void add_distances() {
    update_centroids();
    BlockMeasure::Space space = blocks_.make_space();
    for (std::int64_t b = 0; b < blocks_.blocks(); ++b) {
      blocks_.add_distances(b, centroids_, space);
    }
    blocks_.count_sample();
  }
  /// Estimators, and the mean energy of the wall.
  struct Estimate {
    RingMeasures rings;
    double wall_kcal_per_mol = 0.0;
    double hamiltonian_kcal_per_mol = 0.0;
  };
  Estimate estimate(const Ring& ring, RingSpace& space) const;
  Geometry mean_geometry(RingSpace& space) const;
  double wall_energy_of(const RingSpace& space) const;
  void gather_bead(const AlignedVector<double>& packs, int number, double* out) const {
    for (int m = 0; m < n_; ++m) {
      for (int c = 0; c < 9; ++c) out[9 * m + c] = packs[at(number, m, c)];
    }
  }

  const System system_;
  const KernelTable& kernels_;
  int n_, beads_, threads_;
  const GroupLayout layout_;
  int padded_, packs_;  ///< beads with padding, and packs of them
  const GroupForces forces_;
  FlexibleParameters<double> bonds_;
  const RingMatrices matrices_;
  std::map<double, RingTable> tables_;  ///< by temperature
  std::vector<Ring> rings_;
  std::int64_t step_;
  PairCountRequest counting_;
  Measure measure_;
  bool tallies_heat_;
  std::vector<RingSpace> spaces_;     ///< [thread]
  std::vector<ThreadTotals> totals_;  ///< [thread]
  MeasureSettings settings_;
  ReplicaGroups moment_groups_;
  std::vector<Group> centroids_;  ///< of all replicas, for measurements
  BlockMeasure blocks_;
};

State RingEngine::centroid_state(const State& start) const {
  State s;
  s.molecules = n_;
  s.step = start.step;
  s.replica_ids = start.replica_ids;
  const std::size_t ring = start.ring_coordinates(), one = start.coordinates();
  const double by_root = 1.0 / std::sqrt(static_cast<double>(beads_));
  for (std::size_t r = 0; r < start.replica_ids.size(); ++r) {
    for (std::size_t c = 0; c < one; ++c) {
      s.positions_A.push_back(by_root * start.positions_A[r * ring + c]);
      s.velocities_A_per_akma.push_back(by_root * start.velocities_A_per_akma[r * ring + c]);
    }
  }
  return s;
}

void RingEngine::load(const State& start) {
  const std::size_t ring_size = start.ring_coordinates();
  rings_.resize(start.replica_ids.size());
  for (std::size_t r = 0; r < rings_.size(); ++r) {
    Ring& ring = rings_[r];
    ring.id = start.replica_ids[r];
    const double t_K = replica_temperature_K(system_, ring.id);
    ring.table =
        &tables_.try_emplace(t_K, system_, t_K, static_cast<std::size_t>(padded_)).first->second;
    for (AlignedVector<double>* numbers : {&ring.q, &ring.v, &ring.f}) numbers->assign(size(), 0.0);
    if (system_.thermostat.kind == Thermostat::baoab) ring.v_thermal.assign(size(), kNoNumber);
    if (tallies_heat_) ring.heat.assign(size() / 9, 0.0);
    for (int mode = 0; mode < beads_; ++mode) {
      for (int m = 0; m < n_; ++m) {
        const std::size_t from = r * ring_size + static_cast<std::size_t>(mode * n_ + m) * 9;
        for (int c = 0; c < 9; ++c) {
          ring.q[at(mode, m, c)] = start.positions_A[from + static_cast<std::size_t>(c)];
          ring.v[at(mode, m, c)] = start.velocities_A_per_akma[from + static_cast<std::size_t>(c)];
        }
        if (tallies_heat_) ring.heat[heat_at(mode, m)] = start.heat_kcal_per_mol[from / 9];
      }
    }
  }
}

void RingEngine::prepare_space(RingSpace& space) const {
  if (!space.x.empty()) return;
  space.beads.lanes_are_replicas = true;
  space.beads.slots = layout_.wide_slots();
  space.beads.replicas = layout_.wide_slots();
  const std::size_t block = layout_.pack_doubles(space.beads);
  for (AlignedVector<double>* numbers : {&space.beads.x, &space.beads.v, &space.beads.a}) {
    numbers->assign(block, 0.0);
  }
  space.beads.ids.assign(static_cast<std::size_t>(space.beads.slots), 0);
  space.beads.kick_scale.assign(static_cast<std::size_t>(space.beads.slots), 1.0);
  space.beads.running.assign(static_cast<std::size_t>(space.beads.slots), 1.0);
  layout_.prepare_to_step(space.beads, space.forces);
  space.x.assign(size(), 0.0);
  space.f.assign(size(), 0.0);
  space.energies.resize(static_cast<std::size_t>(kernels_.lanes));
  space.numbers.resize(static_cast<std::size_t>(GeometryTerm::kNumbers * kernels_.lanes));
  space.one.resize(coordinates());
}

void RingEngine::compute_forces(Ring& ring, RingSpace& space, EngineReport& report,
                                StageClock& clock) const {
  const std::size_t block = layout_.pack_doubles(space.beads);
  TeamMember alone;
  for (std::size_t first = 0; first < size(); first += block) {
    forces_.compute(space.x.data() + first, space.beads, space.forces, alone);
    std::copy_n(space.forces.f.begin(), block,
                space.f.begin() + static_cast<std::ptrdiff_t>(first));
  }
  clock.add_to(report.pair_seconds);
  kernels_.rings.add_bond_forces(bonds_, space.x.data(), packs_ * n_, space.f.data());
  clock.add_to(report.bond_seconds);
  kernels_.rings.transform(matrices_.to_modes(packs_, 9 * n_), space.f.data(), ring.f.data());
}

/// Initial forces, a function of the positions only.
void RingEngine::prepare(Ring& ring, RingSpace& space) {
  EngineReport ignored;
  StageClock clock(false);
  place_beads(ring, space);
  compute_forces(ring, space, ignored, clock);
  keep(ring);
  for (int m = 0; m < n_; ++m) {
    for (int mode = 0; mode < beads_; ++mode) {
      for (int c = 0; c < 9; ++c) {
        if (!std::isfinite(ring.f[at(mode, m, c)])) return stop(ring, step_, m);
      }
    }
  }
}

int RingEngine::bad_molecule(const Ring& ring) const {
  for (int m = 0; m < n_; ++m) {
    for (int mode = 0; mode < beads_; ++mode) {
      double square = 0.0;
      for (int c = 0; c < 9; ++c) square += ring.v[at(mode, m, c)] * ring.v[at(mode, m, c)];
      if (!(square < kLargestSpeed2 * beads_)) return m;
    }
  }
  return 0;
}

void RingEngine::stop(Ring& ring, std::int64_t step, int molecule) const {
  ring.stopped = true;
  ring.q = ring.kept_q;
  ring.v = ring.kept_v;
  ring.heat = ring.kept_heat;
  ring.blow_up.replica = ring.id;
  ring.blow_up.step = step;
  ring.blow_up.molecule = molecule;
  // The atoms of the centroids in the last good state.
  std::vector<double> x(coordinates());
  gather_bead(ring.q, 0, x.data());
  for (double& c : x) c /= std::sqrt(static_cast<double>(beads_));
  WaterModel without_bonds = system_.model;
  without_bonds.intramolecular = {};
  ForceField force_field(without_bonds, n_);
  measure_.record_extremes(
      x, x,
      [&](const std::vector<double>& positions, std::vector<double>& f) {
        force_field.energy_and_forces(positions, f);
      },
      ring.blow_up);
  ring.blow_up.seen_in_last_good_state = true;
}

void RingEngine::advance_ring(Ring& ring, RingSpace& space, ThreadTotals& totals,
                              std::int64_t n_steps) {
  if (ring.stopped) return;
  const bool baoab = system_.thermostat.kind == Thermostat::baoab;
  EngineReport& report = totals.report;
  const std::int64_t last = step_ + n_steps;
  bool has_begun = false;
  for (std::int64_t step = step_; step < last; ++step) {
    // The kept state is that before the step, so a step that keeps it is not begun by the last one.
    StageClock clock(step % kTimedSteps == 0);
    if (!has_begun) {
      if (step % kKeptSteps == 0) keep(ring);
      pass(ring, step, false, true);
      clock.add_to(report.noise_seconds);
    }
    place_beads(ring, space);
    clock.add_to(report.rest_seconds);
    compute_forces(ring, space, report, clock);
    clock.add_to(report.rest_seconds);
    has_begun =
        step + 1 < last && (step + 1) % kKeptSteps != 0 && !counts_are_due(counting_, step + 1);
    report.molecule_steps += n_;
    if (!pass(ring, baoab && has_begun ? step + 1 : step, true, has_begun)) {
      return stop(ring, step + 1, bad_molecule(ring));
    }
    clock.add_to(report.noise_seconds);
    if (counts_are_due(counting_, step + 1)) count_pairs(ring, space, totals.pairs);
  }
}

void RingEngine::count_pairs(const Ring& ring, const RingSpace& space,
                             PairHistograms& pairs) const {
  const int lanes = kernels_.lanes;
  const auto group = static_cast<std::size_t>(ring.id % counting_.groups);
  const auto bins = static_cast<std::size_t>(counting_.bins);
  std::uint64_t* const histogram = pairs.counts.data() + group * kPairClasses * (bins + 1);
  pairs.samples[group] += beads_;
  for (int p = 0; p < packs_; ++p) {
    std::array<std::uint64_t*, kPadding> of_lanes{};
    for (int l = 0; l < lanes; ++l) {
      of_lanes[static_cast<std::size_t>(l)] = p * lanes + l < beads_ ? histogram : nullptr;
    }
    kernels_.count_pairs({space.x.data() + static_cast<std::size_t>(p * 9 * n_ * lanes),
                          true,
                          n_,
                          {counting_.pairs[0], counting_.pairs[1], counting_.pairs[2]},
                          counting_.bins / counting_.r_max_A,
                          counting_.bins,
                          0,
                          n_,
                          of_lanes.data()});
  }
}

State RingEngine::state() const {
  State s;
  s.molecules = n_;
  s.beads = beads_;
  s.step = step_;
  s.replica_ids = ids();
  const std::size_t ring_size = s.ring_coordinates();
  s.positions_A.resize(rings_.size() * ring_size);
  s.velocities_A_per_akma.resize(s.positions_A.size());
  if (tallies_heat_) s.heat_kcal_per_mol.resize(s.positions_A.size() / 9);
  for (std::size_t r = 0; r < rings_.size(); ++r) {
    const Ring& ring = rings_[r];
    for (int mode = 0; mode < beads_; ++mode) {
      const std::size_t to = r * ring_size + static_cast<std::size_t>(mode) * coordinates();
      gather_bead(ring.q, mode, &s.positions_A[to]);
      gather_bead(ring.v, mode, &s.velocities_A_per_akma[to]);
      if (!tallies_heat_) continue;
      for (int m = 0; m < n_; ++m) {
        s.heat_kcal_per_mol[to / 9 + static_cast<std::size_t>(m)] = ring.heat[heat_at(mode, m)];
      }
    }
  }
  return s;
}

/// Copies the centroids to the groups that are measured.
void RingEngine::update_centroids() {
  const double by_root = 1.0 / std::sqrt(static_cast<double>(beads_));
  for (Group& group : centroids_) {
    for (int slot = 0; slot < group.slots; ++slot) {
      const int r = slot < group.replicas ? slot : 0;
      const Ring& ring = rings_[static_cast<std::size_t>(group.first_replica + r)];
      for (int m = 0; m < n_; ++m) {
        for (int c = 0; c < 9; ++c) {
          const std::size_t to = layout_.index(group, slot, m, c), from = at(0, m, c);
          group.x[to] = by_root * ring.q[from];
          group.v[to] = by_root * ring.v[from];
          if (!group.v_thermal.empty()) group.v_thermal[to] = by_root * ring.v_thermal[from];
        }
      }
    }
  }
}

double RingEngine::wall_energy_of(const RingSpace& space) const {
  const Confinement<double> wall{system_.confinement.radius_A,
                                 system_.confinement.stiffness_kcal_per_mol_A2};
  if (wall.stiffness <= 0.0) return 0.0;
  const Masses<double> mass = masses(system_.model);
  double sum = 0.0;
  std::vector<double> x(coordinates());
  for (int bead = 0; bead < beads_; ++bead) {
    gather_bead(space.x, bead, x.data());
    Vec3<double> moment{0.0, 0.0, 0.0};
    for (int m = 0; m < n_; ++m) {
      moment = moment + mass_moment(molecule_at(x.data(), static_cast<std::size_t>(m)), mass);
    }
    const Vec3<double> centre = 1.0 / (n_ * (mass.o + 2.0 * mass.h)) * moment;
    for (int m = 0; m < n_; ++m) {
      sum += wall_energy(molecule_at(x.data(), static_cast<std::size_t>(m)).o - centre, wall);
    }
  }
  return sum / beads_;
}

/// Equation (83). Sums over beads, modes and molecules have one order.
RingEngine::Estimate RingEngine::estimate(const Ring& ring, RingSpace& space) const {
  constexpr double k = units::boltzmann_kcal_per_mol_K;
  const double kT = k * ring.table->temperature_K(), p = beads_;
  const double mass[3] = {system_.model.mass_o_Da, system_.model.mass_h_Da,
                          system_.model.mass_h_Da};
  const PairParameters<double> pair = pair_parameters<double>(system_.model);
  Estimate e;
  RingMeasures& r = e.rings;
  for (int pack = 0; pack < packs_; ++pack) {
    const double* x = space.x.data() + static_cast<std::size_t>(pack * 9 * n_ * kernels_.lanes);
    const auto add = [&](double& sum) {
      for (int l = 0; l < kernels_.lanes && pack * kernels_.lanes + l < beads_; ++l) {
        sum += space.energies[static_cast<std::size_t>(l)];
      }
    };
    kernels_.measure.potential_energies[system_.model.has_m_site()](pair, x, n_,
                                                                    space.energies.data());
    add(r.potential_kcal_per_mol);
    kernels_.rings.bond_energies(bonds_, x, n_, space.energies.data());
    add(r.intramolecular_kcal_per_mol);
  }
  r.potential_kcal_per_mol /= p;
  r.intramolecular_kcal_per_mol /= p;
  e.wall_kcal_per_mol = wall_energy_of(space);
  // By atom: sums over modes of q f, q^2 and v^2.
  const AlignedVector<double>& hot =
      ring.v_thermal.empty() || std::isnan(ring.v_thermal[0]) ? ring.v : ring.v_thermal;
  double virial[3] = {}, square[3] = {}, kinetic = 0.0, centroid = 0.0, internal = 0.0;
  for (int mode = 0; mode < beads_; ++mode) {
    const double spring = ring.table->springs()[static_cast<std::size_t>(mode)];
    for (int m = 0; m < n_; ++m) {
      for (int c = 0; c < 9; ++c) {
        const int atom = c / 3;
        const std::size_t i = at(mode, m, c);
        const double q = ring.q[i];
        kinetic += 0.5 * mass[atom] * ring.v[i] * ring.v[i];
        (mode == 0 ? centroid : internal) += 0.5 * mass[atom] * hot[i] * hot[i];
        if (mode == 0) continue;
        virial[atom] -= q * ring.f[i];
        square[atom] += q * q;
        r.spring_kcal_per_mol += 0.5 * mass[atom] * spring * q * q;
      }
    }
  }
  r.kinetic_o_kcal_per_mol = 1.5 * kT + 0.5 * virial[0] / (p * n_);
  r.kinetic_h_kcal_per_mol = 1.5 * kT + 0.5 * (virial[1] + virial[2]) / (2.0 * p * n_);
  r.gyration2_o_A2 = square[0] / (p * n_);
  r.gyration2_h_A2 = (square[1] + square[2]) / (2.0 * p * n_);
  const double potential =
      r.potential_kcal_per_mol + r.intramolecular_kcal_per_mol + e.wall_kcal_per_mol;
  r.virial_kcal_per_mol =
      potential + n_ * (r.kinetic_o_kcal_per_mol + 2.0 * r.kinetic_h_kcal_per_mol);
  r.primitive_kcal_per_mol = potential + 4.5 * n_ * p * kT - r.spring_kcal_per_mol / p;
  r.centroid_K = centroid / (4.5 * n_ * k * p);
  r.internal_K = internal / (4.5 * n_ * k * p * (p - 1.0));
  e.hamiltonian_kcal_per_mol = kinetic + r.spring_kcal_per_mol + p * potential;
  return e;
}

Geometry RingEngine::mean_geometry(RingSpace& space) const {
  double all[GeometryTerm::kNumbers] = {};
  bool first = true;
  for (int bead = 0; bead < beads_; ++bead) {
    gather_bead(space.x, bead, space.one.data());
    for (int m = 0; m < n_; ++m) {
      double terms[GeometryTerm::kNumbers];
      geometry_terms(molecule_at(space.one.data(), static_cast<std::size_t>(m)), terms);
      if (first) {
        std::copy(std::begin(terms), std::end(terms), all);
      } else {
        add_geometry(terms, all);
      }
      first = false;
    }
  }
  const MoleculeGeometry mean = molecule_geometry(all, n_ * beads_);
  return {mean, mean};
}

void RingEngine::snapshot(unsigned fields, Frame& frame) {
  frame.step = step_;
  frame.time_ps = units::ps_from_akma(static_cast<double>(step_) * h());
  frame.molecules = n_;
  frame.replica_ids.clear();
  std::vector<std::int64_t> places(rings_.size(), -1);
  for (std::size_t r = 0; r < rings_.size(); ++r) {
    if (rings_[r].stopped) continue;
    places[r] = static_cast<std::int64_t>(frame.replica_ids.size());
    frame.replica_ids.push_back(rings_[r].id);
  }
  const unsigned rows = row_fields_for(fields);
  Measure::prepare_rows(rows, frame.live(), frame);
  measure_.prepare_arrays(fields, frame.live(), frame);
  update_centroids();
  // Rows of centroids.
  if (rows != kNoFields) {
    BlockMeasure::Space space = blocks_.make_space();
    for (std::int64_t b = 0; b < blocks_.blocks(); ++b) {
      blocks_.fill(rows & ~kRings, b, centroids_, places, settings_, space, nullptr, frame);
    }
  }
  constexpr unsigned kOfBeads =
      kEnergies | kConservation | kHeat | kRings | kGeometry | kBeads | kRadialCounts;
  frame.radial_counts = {};
  if (fields & kRadialCounts) clear_radial(settings_.radial, frame.radial_counts);
  std::vector<RadialCounts> radial(spaces_.size());
  if ((rows | fields) & kOfBeads) {
    for_each_index(
        static_cast<std::int64_t>(rings_.size()), threads_,
        [&](int rank) {
          const auto t = static_cast<std::size_t>(rank);
          prepare_space(spaces_[t]);
          if (fields & kRadialCounts) clear_radial(settings_.radial, radial[t]);
          return t;
        },
        [&](std::size_t t, std::int64_t k) {
          const auto number = static_cast<std::size_t>(k);
          if (places[number] < 0) return;
          const FlushDenormals flush;
          const Ring& ring = rings_[number];
          RingSpace& space = spaces_[t];
          const auto place = static_cast<std::size_t>(places[number]);
          place_beads(ring, space);
          if (rows & (kEnergies | kConservation | kRings)) {
            const Estimate e = estimate(ring, space);
            if (rows & kRings) frame.rings[place] = e.rings;
            if (rows & kConservation) {
              frame.conservation[place].energy_kcal_per_mol = e.hamiltonian_kcal_per_mol;
            }
            if (rows & kEnergies) {
              Energies& energies = frame.energies[place];
              energies.potential_kcal_per_mol = e.rings.potential_kcal_per_mol;
              energies.bond_kcal_per_mol = e.rings.intramolecular_kcal_per_mol;
              energies.wall_kcal_per_mol = e.wall_kcal_per_mol;
              energies.kinetic_kcal_per_mol =
                  n_ * (e.rings.kinetic_o_kcal_per_mol + 2.0 * e.rings.kinetic_h_kcal_per_mol);
              energies.total_kcal_per_mol = e.rings.virial_kcal_per_mol;
              energies.physical_kcal_per_mol = e.hamiltonian_kcal_per_mol;
            }
          }
          if (rows & kHeat) {
            double sum = 0.0;
            for (int mode = 0; mode < beads_ && tallies_heat_; ++mode) {
              for (int m = 0; m < n_; ++m) sum += ring.heat[heat_at(mode, m)];
            }
            frame.heat_kcal_per_mol[place] = sum;
          }
          if (rows & kGeometry) frame.geometry[place] = mean_geometry(space);
          if (!(fields & (kBeads | kRadialCounts))) return;
          for (int bead = 0; bead < beads_; ++bead) {
            gather_bead(space.x, bead, space.one.data());
            if (fields & kBeads) {
              std::copy(space.one.begin(), space.one.end(),
                        frame.beads_A.begin() +
                            static_cast<std::ptrdiff_t>((place * static_cast<std::size_t>(beads_) +
                                                         static_cast<std::size_t>(bead)) *
                                                        coordinates()));
            }
            if (fields & kRadialCounts) {
              add_radial(space.one, system_.model.mass_o_Da, system_.model.mass_h_Da,
                         settings_.radial, static_cast<int>(ring.id % settings_.radial.groups),
                         radial[t]);
            }
          }
        });
  }
  if (fields & kRadialCounts) {
    for (const RadialCounts& counts : radial) add_radial(counts, frame.radial_counts);
  }
  fill_moments(fields, true, moment_groups_, threads_, frame);
  drop_rows(fields, frame);
  const std::size_t one = coordinates();
  for (std::size_t r = 0; r < rings_.size() && (fields & kArrayFields); ++r) {
    if (places[r] < 0) continue;
    const double by_root = 1.0 / std::sqrt(static_cast<double>(beads_));
    const auto put = [&](unsigned field, const AlignedVector<double>& packs,
                         std::vector<double>& to) {
      if (!(fields & field)) return;
      double* const out = &to[static_cast<std::size_t>(places[r]) * one];
      gather_bead(packs, 0, out);
      for (std::size_t c = 0; c < one; ++c) out[c] *= by_root;
    };
    put(kPositions, rings_[r].q, frame.positions_A);
    put(kOwnPositions, rings_[r].q, frame.own_positions_A);
    put(kVelocities, rings_[r].v, frame.velocities_A_per_akma);
  }
  if (fields & kLindemannSums) blocks_.put_sums(places, frame);
  if (fields & kPairCounts) {
    const auto groups = static_cast<std::size_t>(counting_.groups);
    frame.pair_counts.assign(groups * kPairClasses * static_cast<std::size_t>(counting_.bins), 0);
    frame.pair_samples.assign(groups, 0);
    for (const ThreadTotals& thread : totals_) add_counts(counting_, thread.pairs, frame);
  }
}

}  // namespace

std::unique_ptr<Engine> make_ring_engine(const System& system, const State& start,
                                         const PairCountRequest& counts, int threads,
                                         const KernelTable& kernels) {
  return std::make_unique<RingEngine>(system, start, counts, threads, kernels);
}

}  // namespace tarn::cpu
