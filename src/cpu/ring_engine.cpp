#include "ring_engine.hpp"

#include <algorithm>
#include <array>
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
#include "ring_group.hpp"
#include "ring_tables.hpp"
#include "stage_clock.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/flat_coordinates.hpp"
#include "tarn/physics/confinement.hpp"
#include "tarn/physics/geometry.hpp"
#include "thread_totals.hpp"

namespace tarn::cpu {
namespace {

/// Work space of one thread.
struct RingSpace {
  Group beads;  ///< a block of beads in lanes
  WorkSpace forces;
  AlignedVector<double> x, f;          ///< of all beads, [pack of slots][molecule][9][lane]
  AlignedVector<double> pairs, bonds;  ///< energies [slot]
  std::vector<double> one;
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
        layout_(GroupLayout::of_copies(system, kernels.lanes)),
        centroid_layout_(system, kernels.lanes),
        places_{n_, beads_, kernels.lanes},
        forces_(system, layout_, kernels),
        bonds_(flexible_parameters(system.model)),
        transforms_(beads_, transforms_are_folded(beads_, kernels.lanes, layout_.wide_slots())),
        step_(start.step),
        counting_(counts),
        measure_(system),
        tallies_heat_(!start.heat_kcal_per_mol.empty()),
        centroids_(
            make_groups(centroid_layout_, centroid_state(start), system.thermostat, threads_)),
        blocks_(system_, centroid_layout_, kernels_,
                static_cast<std::int64_t>(start.replica_ids.size())) {
    spaces_.resize(static_cast<std::size_t>(threads_));
    totals_.resize(spaces_.size());
    load(start);
    for_each_group(
        [&](RingGroup& group, RingSpace& space, ThreadTotals&) { prepare(group, space); });
  }

  void advance(std::int64_t n_steps) override {
    while (n_steps > 0) {
      const std::int64_t n = steps_to_lindemann(settings_.lindemann, step_, n_steps);
      for_each_group([&](RingGroup& group, RingSpace& space, ThreadTotals& totals) {
        advance_group(group, space, totals, n);
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
  std::size_t coordinates() const { return places_.coordinates(); }
  double h() const { return system_.integrator.timestep_akma; }
  std::vector<std::int64_t> ids() const {
    std::vector<std::int64_t> all;
    for (const Ring& ring : rings_) all.push_back(ring.id);
    return all;
  }
  /// The centroids as the state of classical replicas, with the numbers of the start.
  State centroid_state(const State& start) const;
  void load(const State& start);

  std::span<Ring> rings_of(const RingGroup& group) {
    return std::span(rings_).subspan(static_cast<std::size_t>(group.first_ring),
                                     static_cast<std::size_t>(group.rings));
  }
  std::span<const Ring> rings_of(const RingGroup& group) const {
    return std::span(rings_).subspan(static_cast<std::size_t>(group.first_ring),
                                     static_cast<std::size_t>(group.rings));
  }
  const RingGroup& group_of(const Ring& ring) const {
    return groups_[static_cast<std::size_t>(ring.group)];
  }

  /// Calls op(group, space, totals) for each group, on one thread each.
  template <class Op>
  void for_each_group(const Op& op) {
    for_each_index(
        static_cast<std::int64_t>(groups_.size()), threads_,
        [&](int rank) {
          const auto r = static_cast<std::size_t>(rank);
          prepare_space(spaces_[r]);
          totals_[r].pairs.prepare(counting_);
          return r;
        },
        [&](std::size_t rank, std::int64_t k) {
          const FlushDenormals flush;
          op(groups_[static_cast<std::size_t>(k)], spaces_[rank], totals_[rank]);
        });
  }
  void prepare_space(RingSpace& space) const;
  RingPacks packs_of(RingGroup& g) const {
    return {g.q.data(),
            g.v.data(),
            g.f.data(),
            g.v_thermal.empty() ? nullptr : g.v_thermal.data(),
            g.heat.empty() ? nullptr : g.heat.data(),
            g.bad.data(),
            g.replica_ids.data(),
            g.first_numbers.data(),
            n_,
            g.packs,
            system_.model.mass_o_Da,
            system_.model.mass_h_Da};
  }
  bool pass(RingGroup& group, std::int64_t noise_step, bool end, bool begin) const {
    return kernels_.rings.pass[static_cast<int>(system_.thermostat.kind)](
        group.ring_constants(), packs_of(group), h(), kLargestSpeed2 * beads_, system_.seed,
        noise_step, end, begin);
  }
  /// Beads from modes.
  void place_beads(const RingGroup& group, RingSpace& space) const {
    kernels_.rings.transform(transforms_.to_beads(group.rings, group.packs, 9 * n_), group.q.data(),
                             space.x.data());
  }
  /// Forces on the modes at space.x.
  void compute_forces(RingGroup& group, RingSpace& space, EngineReport& report,
                      StageClock& clock) const;
  void prepare(RingGroup& group, RingSpace& space);
  void advance_group(RingGroup& group, RingSpace& space, ThreadTotals& totals,
                     std::int64_t n_steps);
  /// Stops the ring polymers with bad velocities. @return whether others are left
  bool stop_bad(RingGroup& group, std::int64_t step);
  /// Stops one ring polymer at its last good state. @return whether others are left in the group
  bool stop(RingGroup& group, Ring& ring, std::int64_t step, int molecule);
  int bad_molecule(const RingGroup& group, const Ring& ring) const;
  void count_pairs(const RingGroup& group, const RingSpace& space, PairHistograms& pairs) const;

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
  /// Energies of all beads, into the space.
  void bead_energies(const RingGroup& group, RingSpace& space) const;
  Estimate estimate(const Ring& ring, RingSpace& space) const;
  std::array<double, 3> mean_angular_momentum(const Ring& ring) const;
  /// Equation (83) for each atom. @param out 3 N numbers
  void atom_kinetic(const Ring& ring, double* out) const;
  void fill_of_beads(unsigned rows, unsigned fields, const Ring& ring, std::size_t place,
                     RingSpace& space, RadialCounts& radial, Frame& frame) const;
  Geometry mean_geometry(const Ring& ring, RingSpace& space) const;
  double wall_energy_of(const Ring& ring, const RingSpace& space) const;
  const System system_;
  const KernelTable& kernels_;
  int n_, beads_, threads_;
  const GroupLayout layout_, centroid_layout_;  ///< of beads in lanes, and of centroids
  const RingLayout places_;
  const GroupForces forces_;
  FlexibleParameters<double> bonds_;
  const RingTransforms transforms_;
  std::map<double, RingTable> tables_;  ///< by temperature
  std::vector<Ring> rings_;
  std::vector<RingGroup> groups_;
  std::size_t most_slots_ = 0;  ///< of a group
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
  const int all = static_cast<int>(rings_.size()), wide = layout_.wide_slots();
  const int each = std::clamp((all + threads_ - 1) / threads_, 1, rings_in_group(beads_, wide));
  for (int first = 0; first < all; first += each) {
    RingGroup& group = groups_.emplace_back();
    group.first_ring = first;
    group.rings = std::min(each, all - first);
    const int slots = (group.rings * beads_ + wide - 1) / wide * wide;
    most_slots_ = std::max(most_slots_, static_cast<std::size_t>(slots));
    group.allocate(places_, slots, system_.thermostat.kind == Thermostat::baoab, tallies_heat_);
    for (int k = 0; k < group.rings; ++k) {
      const auto r = static_cast<std::size_t>(first + k);
      Ring& ring = rings_[r];
      ring.id = start.replica_ids[r];
      ring.group = static_cast<int>(groups_.size()) - 1;
      ring.first_slot = k * beads_;
      const double t_K = replica_temperature_K(system_, ring.id);
      ring.table = &tables_.try_emplace(t_K, system_, t_K).first->second;
      for (int mode = 0; mode < beads_; ++mode) {
        const int slot = ring.first_slot + mode;
        group.set_mode(places_, slot, ring.id, mode, ring.table->mode(mode));
        for (int m = 0; m < n_; ++m) {
          const std::size_t from = r * ring_size + static_cast<std::size_t>(mode * n_ + m) * 9;
          for (int c = 0; c < 9; ++c) {
            const std::size_t to = places_.at(slot, m, c);
            group.q[to] = start.positions_A[from + static_cast<std::size_t>(c)];
            group.v[to] = start.velocities_A_per_akma[from + static_cast<std::size_t>(c)];
          }
          if (tallies_heat_)
            group.heat[places_.heat_at(slot, m)] = start.heat_kcal_per_mol[from / 9];
        }
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
  space.x.assign(most_slots_ * coordinates(), 0.0);
  space.f.assign(space.x.size(), 0.0);
  space.pairs.resize(most_slots_);
  space.bonds.resize(most_slots_);
  space.one.resize(coordinates());
}

void RingEngine::compute_forces(RingGroup& group, RingSpace& space, EngineReport& report,
                                StageClock& clock) const {
  const std::size_t block = layout_.pack_doubles(space.beads);
  TeamMember alone;
  for (std::size_t first = 0; first < group.q.size(); first += block) {
    forces_.compute(space.x.data() + first, space.beads, space.forces, alone);
    std::copy_n(space.forces.f.begin(), block,
                space.f.begin() + static_cast<std::ptrdiff_t>(first));
  }
  clock.add_to(report.pair_seconds);
  kernels_.rings.add_bond_forces(bonds_, space.x.data(), group.packs * n_, space.f.data());
  clock.add_to(report.bond_seconds);
  kernels_.rings.transform(transforms_.to_modes(group.rings, group.packs, 9 * n_), space.f.data(),
                           group.f.data());
}

/// Initial forces, a function of the positions only.
void RingEngine::prepare(RingGroup& group, RingSpace& space) {
  EngineReport ignored;
  StageClock clock(false);
  place_beads(group, space);
  compute_forces(group, space, ignored, clock);
  group.keep();
  const auto first_bad = [&](const Ring& ring) {
    for (int m = 0; m < n_; ++m) {
      for (int mode = 0; mode < beads_; ++mode) {
        for (int c = 0; c < 9; ++c) {
          if (!std::isfinite(group.f[places_.at(ring.first_slot + mode, m, c)])) return m;
        }
      }
    }
    return -1;
  };
  for (Ring& ring : rings_of(group)) {
    if (const int molecule = first_bad(ring); molecule >= 0) stop(group, ring, step_, molecule);
  }
}

int RingEngine::bad_molecule(const RingGroup& group, const Ring& ring) const {
  for (int m = 0; m < n_; ++m) {
    for (int mode = 0; mode < beads_; ++mode) {
      double square = 0.0;
      for (int c = 0; c < 9; ++c) {
        const double v = group.v[places_.at(ring.first_slot + mode, m, c)];
        square += v * v;
      }
      if (!(square < kLargestSpeed2 * beads_)) return m;
    }
  }
  return 0;
}

bool RingEngine::stop_bad(RingGroup& group, std::int64_t step) {
  bool others = true;
  for (Ring& ring : rings_of(group)) {
    if (ring.stopped) continue;
    const auto first = group.bad.begin() + ring.first_slot;
    if (std::find(first, first + beads_, 1.0) == first + beads_) continue;
    others = stop(group, ring, step, bad_molecule(group, ring));
  }
  std::fill(group.bad.begin(), group.bad.end(), 0.0);
  return others;
}

bool RingEngine::stop(RingGroup& group, Ring& ring, std::int64_t step, int molecule) {
  ring.stopped = true;
  const std::size_t one = coordinates();
  ring.last_q.resize(one * static_cast<std::size_t>(beads_));
  ring.last_v.resize(ring.last_q.size());
  ring.last_heat.resize(tallies_heat_ ? ring.last_q.size() / 9 : 0);
  for (int mode = 0; mode < beads_; ++mode) {
    const int slot = ring.first_slot + mode;
    const std::size_t to = static_cast<std::size_t>(mode) * one;
    places_.gather(group.kept_q, slot, &ring.last_q[to]);
    places_.gather(group.kept_v, slot, &ring.last_v[to]);
    if (tallies_heat_) places_.gather_heat(group.kept_heat, slot, &ring.last_heat[to / 9]);
  }
  ring.blow_up.replica = ring.id;
  ring.blow_up.step = step;
  ring.blow_up.molecule = molecule;
  // The atoms of the centroids in the last good state.
  std::vector<double> x(ring.last_q.begin(),
                        ring.last_q.begin() + static_cast<std::ptrdiff_t>(one));
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
  const auto others = rings_of(group);
  const auto running = std::ranges::find(others, false, &Ring::stopped);
  if (running == others.end()) return false;
  // The slots repeat a ring polymer that runs.
  for (const Ring& stopped : others) {
    if (stopped.stopped) group.repeat(places_, running->first_slot, stopped.first_slot);
  }
  return true;
}

void RingEngine::advance_group(RingGroup& group, RingSpace& space, ThreadTotals& totals,
                               std::int64_t n_steps) {
  const auto running = [&] { return std::ranges::count(rings_of(group), false, &Ring::stopped); };
  std::int64_t molecules = n_ * running();
  if (molecules == 0) return;
  const bool baoab = system_.thermostat.kind == Thermostat::baoab;
  EngineReport& report = totals.report;
  const std::int64_t last = step_ + n_steps;
  bool has_begun = false;
  for (std::int64_t step = step_; step < last; ++step) {
    // The kept state is that before the step, so a step that keeps it is not begun by the last one.
    StageClock clock(step % kTimedSteps == 0);
    if (!has_begun) {
      if (step % kKeptSteps == 0) group.keep();
      pass(group, step, false, true);
      clock.add_to(report.noise_seconds);
    }
    place_beads(group, space);
    clock.add_to(report.rest_seconds);
    compute_forces(group, space, report, clock);
    clock.add_to(report.rest_seconds);
    has_begun =
        step + 1 < last && (step + 1) % kKeptSteps != 0 && !counts_are_due(counting_, step + 1);
    report.molecule_steps += molecules;
    if (!pass(group, baoab && has_begun ? step + 1 : step, true, has_begun)) {
      if (!stop_bad(group, step + 1)) return;
      molecules = n_ * running();
    }
    clock.add_to(report.noise_seconds);
    if (counts_are_due(counting_, step + 1)) count_pairs(group, space, totals.pairs);
  }
}

void RingEngine::count_pairs(const RingGroup& group, const RingSpace& space,
                             PairHistograms& pairs) const {
  const int lanes = kernels_.lanes;
  const auto bins = static_cast<std::size_t>(counting_.bins);
  // The histogram of each slot; null for slots that are not counted.
  std::vector<std::uint64_t*> histograms(static_cast<std::size_t>(group.packs * lanes), nullptr);
  for (const Ring& ring : rings_of(group)) {
    if (ring.stopped) continue;
    const auto number = static_cast<std::size_t>(sample_group(ring.id, counting_.groups));
    pairs.samples[number] += beads_;
    std::fill_n(histograms.begin() + ring.first_slot, beads_,
                pairs.counts.data() + number * kPairClasses * (bins + 1));
  }
  for (int p = 0; p < group.packs; ++p) {
    kernels_.count_pairs({space.x.data() + static_cast<std::size_t>(p * 9 * n_ * lanes),
                          true,
                          n_,
                          {counting_.pairs[0], counting_.pairs[1], counting_.pairs[2]},
                          counting_.bins / counting_.r_max_A,
                          counting_.bins,
                          0,
                          n_,
                          histograms.data() + p * lanes});
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
    const RingGroup& group = group_of(ring);
    const std::size_t first = r * ring_size;
    if (ring.stopped) {
      const auto put = [](const std::vector<double>& from, std::vector<double>& to,
                          std::size_t at) {
        std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(at));
      };
      put(ring.last_q, s.positions_A, first);
      put(ring.last_v, s.velocities_A_per_akma, first);
      put(ring.last_heat, s.heat_kcal_per_mol, first / 9);
      continue;
    }
    for (int mode = 0; mode < beads_; ++mode) {
      const int slot = ring.first_slot + mode;
      const std::size_t to = first + static_cast<std::size_t>(mode) * coordinates();
      places_.gather(group.q, slot, &s.positions_A[to]);
      places_.gather(group.v, slot, &s.velocities_A_per_akma[to]);
      if (tallies_heat_) places_.gather_heat(group.heat, slot, &s.heat_kcal_per_mol[to / 9]);
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
      if (ring.stopped) continue;
      const RingGroup& own = group_of(ring);
      for (int m = 0; m < n_; ++m) {
        for (int c = 0; c < 9; ++c) {
          const std::size_t to = centroid_layout_.index(group, slot, m, c),
                            from = places_.at(ring.first_slot, m, c);
          group.x[to] = by_root * own.q[from];
          group.v[to] = by_root * own.v[from];
          if (!group.v_thermal.empty()) group.v_thermal[to] = by_root * own.v_thermal[from];
        }
      }
    }
  }
}

double RingEngine::wall_energy_of(const Ring& ring, const RingSpace& space) const {
  const Confinement<double> wall{system_.confinement.radius_A,
                                 system_.confinement.stiffness_kcal_per_mol_A2};
  if (wall.stiffness <= 0.0) return 0.0;
  const Masses<double> mass = masses(system_.model);
  double sum = 0.0;
  std::vector<double> x(coordinates());
  for (int bead = 0; bead < beads_; ++bead) {
    places_.gather(space.x, ring.first_slot + bead, x.data());
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

void RingEngine::bead_energies(const RingGroup& group, RingSpace& space) const {
  const PairParameters<double> pair = pair_parameters<double>(system_.model);
  const int lanes = kernels_.lanes;
  for (int p = 0; p < group.packs; ++p) {
    const double* const x = space.x.data() + static_cast<std::size_t>(p * 9 * n_ * lanes);
    kernels_.measure.potential_energies[system_.model.has_m_site()](pair, x, n_,
                                                                    &space.pairs[p * lanes]);
    kernels_.rings.bond_energies(bonds_, x, n_, &space.bonds[p * lanes]);
  }
}

/// Equation (83). Sums over beads, modes and molecules have one order.
RingEngine::Estimate RingEngine::estimate(const Ring& ring, RingSpace& space) const {
  constexpr double k = units::boltzmann_kcal_per_mol_K;
  const double kT = k * ring.table->temperature_K(), p = beads_;
  const double mass[3] = {system_.model.mass_o_Da, system_.model.mass_h_Da,
                          system_.model.mass_h_Da};
  const RingGroup& group = group_of(ring);
  Estimate e;
  RingMeasures& r = e.rings;
  for (int bead = 0; bead < beads_; ++bead) {
    const auto slot = static_cast<std::size_t>(ring.first_slot + bead);
    r.potential_kcal_per_mol += space.pairs[slot];
    r.intramolecular_kcal_per_mol += space.bonds[slot];
  }
  r.potential_kcal_per_mol /= p;
  r.intramolecular_kcal_per_mol /= p;
  e.wall_kcal_per_mol = wall_energy_of(ring, space);
  // By atom: sums over modes of q f, q^2 and v^2.
  const AlignedVector<double>& hot =
      group.v_thermal.empty() || std::isnan(group.v_thermal[0]) ? group.v : group.v_thermal;
  double virial[3] = {}, square[3] = {}, kinetic = 0.0, centroid = 0.0, internal = 0.0;
  for (int mode = 0; mode < beads_; ++mode) {
    const double spring = ring.table->mode(mode).spring;
    for (int m = 0; m < n_; ++m) {
      for (int c = 0; c < 9; ++c) {
        const int atom = c / 3;
        const std::size_t i = places_.at(ring.first_slot + mode, m, c);
        const double q = group.q[i];
        kinetic += 0.5 * mass[atom] * group.v[i] * group.v[i];
        (mode == 0 ? centroid : internal) += 0.5 * mass[atom] * hot[i] * hot[i];
        if (mode == 0) continue;
        virial[atom] -= q * group.f[i];
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

/// The mean over the beads, which is conserved; that of the centroids is not.
std::array<double, 3> RingEngine::mean_angular_momentum(const Ring& ring) const {
  const RingGroup& group = group_of(ring);
  const double mass[3] = {system_.model.mass_o_Da, system_.model.mass_h_Da,
                          system_.model.mass_h_Da};
  Vec3<double> sum{0.0, 0.0, 0.0};
  for (int mode = 0; mode < beads_; ++mode) {
    for (int m = 0; m < n_; ++m) {
      for (int atom = 0; atom < 3; ++atom) {
        const auto vec3 = [&](const AlignedVector<double>& packs) -> Vec3<double> {
          const auto at = [&](int c) {
            return packs[places_.at(ring.first_slot + mode, m, 3 * atom + c)];
          };
          return {at(0), at(1), at(2)};
        };
        sum = sum + mass[atom] * cross(vec3(group.q), vec3(group.v));
      }
    }
  }
  sum = 1.0 / beads_ * sum;
  return {sum.x, sum.y, sum.z};
}

void RingEngine::atom_kinetic(const Ring& ring, double* out) const {
  const double kT = units::boltzmann_kcal_per_mol_K * ring.table->temperature_K();
  const RingGroup& group = group_of(ring);
  for (int m = 0; m < n_; ++m) {
    for (int atom = 0; atom < 3; ++atom) {
      double virial = 0.0;
      for (int mode = 1; mode < beads_; ++mode) {
        for (int c = 3 * atom; c < 3 * atom + 3; ++c) {
          const std::size_t i = places_.at(ring.first_slot + mode, m, c);
          virial -= group.q[i] * group.f[i];
        }
      }
      out[3 * m + atom] = 1.5 * kT + 0.5 * virial / beads_;
    }
  }
}

Geometry RingEngine::mean_geometry(const Ring& ring, RingSpace& space) const {
  double all[GeometryTerm::kNumbers] = {};
  bool first = true;
  for (int bead = 0; bead < beads_; ++bead) {
    places_.gather(space.x, ring.first_slot + bead, space.one.data());
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

/// Fills the numbers of one ring polymer that come from its beads.
void RingEngine::fill_of_beads(unsigned rows, unsigned fields, const Ring& ring, std::size_t place,
                               RingSpace& space, RadialCounts& radial, Frame& frame) const {
  if (rows & (kEnergies | kConservation | kRings)) {
    const Estimate e = estimate(ring, space);
    if (rows & kRings) frame.rings[place] = e.rings;
    if (rows & kConservation) {
      frame.conservation[place].energy_kcal_per_mol = e.hamiltonian_kcal_per_mol;
      frame.conservation[place].angular_momentum_Da_A2_per_akma = mean_angular_momentum(ring);
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
      for (int m = 0; m < n_; ++m) {
        sum += group_of(ring).heat[places_.heat_at(ring.first_slot + mode, m)];
      }
    }
    frame.heat_kcal_per_mol[place] = sum;
  }
  if (rows & kGeometry) frame.geometry[place] = mean_geometry(ring, space);
  if (!(fields & (kBeads | kRadialCounts))) return;
  for (int bead = 0; bead < beads_; ++bead) {
    places_.gather(space.x, ring.first_slot + bead, space.one.data());
    if (fields & kBeads) {
      const std::size_t first =
          (place * static_cast<std::size_t>(beads_) + static_cast<std::size_t>(bead)) *
          coordinates();
      std::copy(space.one.begin(), space.one.end(),
                frame.beads_A.begin() + static_cast<std::ptrdiff_t>(first));
    }
    if (fields & kRadialCounts) {
      add_radial(space.one, system_.model.mass_o_Da, system_.model.mass_h_Da, settings_.radial,
                 sample_group(ring.id, settings_.radial.groups), radial);
    }
  }
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
        static_cast<std::int64_t>(groups_.size()), threads_,
        [&](int rank) {
          const auto t = static_cast<std::size_t>(rank);
          prepare_space(spaces_[t]);
          if (fields & kRadialCounts) clear_radial(settings_.radial, radial[t]);
          return t;
        },
        [&](std::size_t t, std::int64_t k) {
          const FlushDenormals flush;
          const RingGroup& group = groups_[static_cast<std::size_t>(k)];
          RingSpace& space = spaces_[t];
          place_beads(group, space);
          if (rows & (kEnergies | kConservation | kRings)) bead_energies(group, space);
          for (int i = group.first_ring; i < group.first_ring + group.rings; ++i) {
            const auto number = static_cast<std::size_t>(i);
            if (places[number] < 0) continue;
            fill_of_beads(rows, fields, rings_[number], static_cast<std::size_t>(places[number]),
                          space, radial[t], frame);
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
    const RingGroup& group = group_of(rings_[r]);
    const auto put = [&](unsigned field, const AlignedVector<double>& packs,
                         std::vector<double>& to) {
      if (!(fields & field)) return;
      double* const out = &to[static_cast<std::size_t>(places[r]) * one];
      places_.gather(packs, rings_[r].first_slot, out);
      for (std::size_t c = 0; c < one; ++c) out[c] *= by_root;
    };
    put(kPositions, group.q, frame.positions_A);
    put(kOwnPositions, group.q, frame.own_positions_A);
    put(kVelocities, group.v, frame.velocities_A_per_akma);
    if (fields & kAtomKinetic) {
      atom_kinetic(rings_[r],
                   &frame.atom_kinetic_kcal_per_mol[static_cast<std::size_t>(places[r]) * one / 3]);
    }
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
