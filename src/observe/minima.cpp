#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include <fmt/format.h>

#include "analysis/isomers.hpp"
#include "baths.hpp"
#include "io/archive.hpp"
#include "io/xyz.hpp"
#include "observable.hpp"
#include "start/molecule_frame.hpp"
#include "start/quenches.hpp"
#include "table_observer.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/number.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/many_body.hpp"
#include "tarn/minimise.hpp"
#include "tarn/modes.hpp"
#include "tarn/physics/isotopes.hpp"
#include "warnings.hpp"

namespace tarn {
namespace {

constexpr std::string_view kErrors =
    "share_err = standard error by blocking (0 if all samples agree); converged = 0: share_err may "
    "be a lower bound";
constexpr std::string_view kHarmonic =
    "; harmonic_share = share by the harmonic superposition, equation (62), of the minima in this "
    "table";
/// Isomers of this population count as changes of structure.
constexpr double kPopulated = 0.1;
/// Larger clusters have no harmonic shares: normal modes take longer than a second.
constexpr int kMostHarmonicMolecules = 50;
/// A ratio of two populations that differs more from the harmonic one is worth a warning.
constexpr double kFarFromHarmonic = 1.5;

/// Population of a minimum: fraction of the samples of one bath or of all.
struct Share {
  double samples = 0.0, value = 0.0, error = 0.0;
  bool converged = true;  // false: the error may be a lower bound
  double harmonic = kNoNumber;
};

/// Results of all quenches of a run.
class Minima {
 public:
  Minima(const ObserveMinima& section, const ObserverContext& info)
      : model_(info.model),
        isotopes_(isotope_names(info.system.atom_masses_Da)),
        info_(info),
        baths_(info),
        beads_(info.system.path_integral.beads),
        part_(baths_.size() > 1 ? static_cast<std::int64_t>(info.baths_K.size()) : 1),
        tolerance_kcal_per_mol_A_(section.tolerance_kcal_per_mol_A),
        census_(static_cast<std::size_t>(section.isomers),
                analysis::kSameMinimum_A * tolerance_kcal_per_mol_A_, baths_.replicas(),
                static_cast<int>((info.replicas + part_ - 1) / part_), info.replicas, info.starts) {
  }

  /// Quenches copies of all replicas and, after equilibration, counts the minima.
  void quench(const Frame& frame) {
    const std::size_t replicas = frame.replica_ids.size();
    size_ = 9 * static_cast<std::size_t>(frame.molecules);
    positions_A_ = frame.positions_A;
    energies_.assign(replicas, kNoNumber);
    start::run_quenches(
        {model_, frame.molecules, info_.potential, {}, info_.device}, {}, image_ids(frame),
        info_.threads,
        [&](start::Quenches& quenches, std::int64_t r) { return quench_one(quenches, r); });
    if (frame.step < info_.first_averaged_step) return;
    std::vector<analysis::QuenchedCluster> clusters;
    for (std::size_t r = 0; r < replicas; ++r) {
      if (std::isnan(energies_[r])) continue;
      const std::int64_t id = frame.replica_ids[r];
      clusters.push_back({baths_.of(id), baths_.index_in_bath(id), id / part_,
                          info_.walker_at ? info_.walker_at(id) : id, energies_[r], quenched(r)});
    }
    census_.add(clusters);
  }

  /// Sets the energy of the minimum near a cluster; nan if the quench fails.
  start::QuenchTask quench_one(start::Quenches& quenches, std::int64_t i) {
    const auto r = static_cast<std::size_t>(i);
    try {
      const MinimiseResult result = co_await start::quench_to_minimum(
          quenches, quenched(r), tolerance_kcal_per_mol_A_, MinimiseOptions{}.max_iterations);
      const bool whole = !analysis::first_evaporated_molecule(quenched(r), analysis::kLink_A);
      if (result.converged && whole) energies_[r] = result.energy_kcal_per_mol;
    } catch (const InputError&) {
      // Collinear molecules or overlapping atoms: the replica is about to blow up.
    } catch (const NumericalError&) {
    }
    co_return {};
  }

  void append_values(std::size_t r, std::vector<double>& values) {
    const bool known = !std::isnan(energies_[r]);
    const analysis::ClusterShape shape =
        known ? analysis::cluster_shape(quenched(r)) : analysis::ClusterShape{};
    values.push_back(energies_[r]);
    values.push_back(known ? shape.hydrogen_bonds : energies_[r]);
    values.push_back(known ? shape.radius_of_gyration_A : energies_[r]);
  }

  void archive(io::Archive& a) { a(census_); }
  void finish() {
    count_changes();
    find_harmonic_shares();
    write_table();
    if (baths_.size() > 1) write_table_by_bath();
    io::write_file(path("isomers.xyz"), structures());
  }
  Messages messages() const {
    Messages messages;
    const auto& changes = changes_[census_.all()];
    // With exchange, the run reports it.
    if (!info_.walker_at && changes && !changes->are_enough()) {
      messages.push_back(Message::warning(fmt::format(
          "{:.1f} {} per replica, fewer than about {:g}: populations may depend on the "
          "start. {}, or add [exchange]",
          changes->per_walker, changes->what, StructureChanges::kEnough, run_longer(*changes))));
    }
    append(message_on_harmonic_shares(), messages);
    StartComparison comparison;
    for (std::size_t i = 0; i < census_.isomers().size(); ++i) {
      const analysis::Isomer& isomer = census_.isomers()[i];
      const std::string name = fmt::format("population of isomer {}", i + 1);
      bool is_populated = false;
      for (std::size_t bath = 0; bath < baths_.size(); ++bath) {
        if (isomer.shares[bath].result().mean < kPopulated) continue;
        is_populated = true;
        comparison.add(name, baths_.temperature_K(bath), sigmas_between_starts(isomer, bath));
      }
      if (!is_populated) continue;
      // Populations are too slow for the test of the first eighth.
      BathShifts shifts;
      shifts.from_first_half.push_back(
          isomer.halves.shift(isomer.shares[census_.all()].result().error));
      append(equilibration_warning("The " + name, shifts), messages);
    }
    append(comparison.message("populations"), messages);
    return messages;
  }
  /// Nothing with fewer than two populated isomers.
  std::optional<StructureChanges> structure_changes() const {
    return changes_.empty() ? std::nullopt : changes_[census_.all()];
  }

 private:
  /// Ids of the replicas for a potential; those below belong to the engine.
  start::ImageIds image_ids(const Frame& frame) const {
    start::ImageIds ids{frame.replica_ids, info_.replicas};
    for (std::int64_t& id : ids.of_tasks) id += std::int64_t{info_.replicas} * beads_;
    return ids;
  }
  std::span<double> quenched(std::size_t r) {
    return std::span(positions_A_).subspan(r * size_, size_);
  }
  /// Start of each series of the populations of a group.
  std::vector<int> starts_of(std::size_t group) const {
    if (group < baths_.size()) return baths_.starts(group);
    std::vector<int> starts;
    const auto parts = static_cast<int>((info_.replicas + part_ - 1) / part_);
    const std::size_t series = analysis::PooledBlocking::series_of_replicas(parts, info_.starts);
    for (std::size_t s = 0; s < series; ++s) {
      starts.push_back(sample_group(static_cast<int>(s), info_.starts));
    }
    return starts;
  }
  double sigmas_between_starts(const analysis::Isomer& isomer, std::size_t group) const {
    return info_.starts == 1 ? 0.0 : isomer.shares[group].sigmas_between(starts_of(group));
  }
  /// Whether the clusters of a bath, or with exchange the walkers, changed often enough.
  bool has_forgotten(std::size_t group) const {
    const auto& changes = changes_[info_.walker_at ? census_.all() : group];
    return !changes || changes->are_enough();
  }
  /// Counts changes between the two most populated isomers of a bath: others may be defects that
  /// form and vanish quickly. Walkers of an exchange are judged by the coldest bath with two of
  /// them.
  void count_changes() {
    changes_.assign(census_.all() + 1, std::nullopt);
    std::optional<StructureChanges>& all = changes_[census_.all()];
    for (std::size_t bath = 0; bath < baths_.size(); ++bath) {
      const auto populated = census_.isomers_above(kPopulated, bath);
      if (populated.size() < 2) continue;
      const std::array ids{populated[0]->id, populated[1]->id};
      const auto is_here = [&](std::int64_t replica) { return baths_.of(replica) == bath; };
      const auto counts = info_.walker_at ? std::function<bool(std::int64_t)>{} : is_here;
      changes_[bath] = {census_.paths().changes_per_walker(ids, counts),
                        "changes between the two most populated isomers"};
      if (!all || changes_[bath]->per_walker < all->per_walker) all = changes_[bath];
      if (info_.walker_at) return;
    }
  }
  /// Population among the samples of one bath or of all.
  Share share(std::size_t number, std::size_t group) const {
    const analysis::Isomer& isomer = census_.isomers()[number];
    const analysis::Blocking share = isomer.shares[group].result();
    const bool forgot_the_start =
        has_forgotten(group) &&
        sigmas_between_starts(isomer, group) <= AveragedQuantity::kMostSigmasBetweenStarts;
    return {std::round(share.mean * census_.samples(group)), share.mean, share.error,
            share.converged && forgot_the_start, harmonic_[group][number]};
  }
  void put_share(std::size_t number, std::size_t group, io::CsvFormat& csv) const {
    const Share s = share(number, group);
    csv.cells(static_cast<std::int64_t>(s.samples),
              static_cast<std::int64_t>(census_.samples(group)), s.value, s.error, s.converged);
    if (has_harmonic_shares()) csv.cell_or_nan(s.harmonic);
  }
  /// Whether the tables have the column harmonic_share.
  bool has_harmonic_shares() const {
    const bool has_temperatures = !info_.baths_K.empty() && info_.baths_K.front() > 0.0;
    return !info_.potential && has_temperatures && info_.molecules <= kMostHarmonicMolecules;
  }
  /// Appends the columns of put_share().
  std::vector<std::string> with_shares(std::vector<std::string> header) const {
    for (const char* name : {"samples", "of_samples", "share", "share_err", "converged"}) {
      header.emplace_back(name);
    }
    if (has_harmonic_shares()) header.emplace_back("harmonic_share");
    return header;
  }
  std::string text_of_columns() const {
    return std::string(kErrors) + (has_harmonic_shares() ? std::string(kHarmonic) : "");
  }
  /// The populations of all minima in the table together, divided by equation (62). A temperature
  /// pools its samples; all together are a mean over the temperatures.
  void find_harmonic_shares() {
    const std::vector<analysis::Isomer>& isomers = census_.isomers();
    harmonic_.assign(census_.all() + 1, std::vector<double>(isomers.size(), kNoNumber));
    if (!has_harmonic_shares()) return;
    const Statistics statistics = beads_ > 1 ? Statistics::quantum : Statistics::classical;
    std::vector<double> pooled(isomers.size(), 0.0);
    std::vector<std::vector<double>> free_energies(baths_.size());
    for (const analysis::Isomer& isomer : isomers) {
      const analysis::PointGroup group = analysis::point_group(isomer.positions_A);
      // Reflections double the copies of a chiral minimum.
      const double mirror_images = group.order == group.rotations ? 2.0 : 1.0;
      try {
        NormalModes modes = normal_modes(model_, isomer.positions_A);
        modes.stationary_gradient_kcal_per_mol_A =
            std::max(modes.stationary_gradient_kcal_per_mol_A, 2.0 * tolerance_kcal_per_mol_A_);
        const RigidRotor rotor = rigid_rotor(model_, isomer.positions_A);
        for (std::size_t bath = 0; bath < baths_.size(); ++bath) {
          const double t_K = baths_.temperature_K(bath).value_or(info_.baths_K.front());
          const HarmonicState state =
              harmonic_state(modes, rotor, group.rotations, t_K, statistics);
          free_energies[bath].push_back(state.free_energy_kcal_per_mol /
                                            (units::boltzmann_kcal_per_mol_K * t_K) -
                                        std::log(mirror_images));
        }
      } catch (const Error&) {  // not a minimum, or collinear
        return;
      }
    }
    for (std::size_t bath = 0; bath < baths_.size() && !isomers.empty(); ++bath) {
      const double lowest = std::ranges::min(free_energies[bath]);
      double sum = 0.0, populated = 0.0;
      for (std::size_t i = 0; i < isomers.size(); ++i) {
        harmonic_[bath][i] = std::exp(lowest - free_energies[bath][i]);
        sum += harmonic_[bath][i];
        populated += isomers[i].shares[bath].result().mean;
      }
      for (std::size_t i = 0; i < isomers.size(); ++i) {
        harmonic_[bath][i] *= populated / sum;
        pooled[i] += harmonic_[bath][i] * census_.samples(bath) / census_.samples(census_.all());
      }
    }
    harmonic_[census_.all()] = pooled;
  }
  /// At the lowest temperature at which the two most populated minima are not in the harmonic
  /// ratio.
  std::optional<Message> message_on_harmonic_shares() const {
    constexpr double kMostOthers = 0.1, kSigmas = 3.0;
    for (std::size_t bath = 0; bath < baths_.size() && has_harmonic_shares(); ++bath) {
      struct Numbered {
        std::size_t number;
        Share share;
      };
      std::vector<Numbered> shares;
      double populated = 0.0;
      for (std::size_t i = 0; i < census_.isomers().size(); ++i) {
        shares.push_back({i + 1, share(i, bath)});
        populated += shares.back().share.value;
      }
      // The superposition holds for cold clusters, which are in a few low minima.
      if (shares.size() < 2 || populated < 1.0 - kMostOthers) continue;
      std::ranges::stable_sort(shares, std::greater{},
                               [](const Numbered& n) { return n.share.value; });
      const Share &a = shares[0].share, &b = shares[1].share;
      if (!(b.value > 0.0) || !(b.harmonic > 0.0)) continue;
      const double log_ratio = std::log(a.value / b.value * b.harmonic / a.harmonic);
      const double error = a.error / a.value + b.error / b.value;
      if (std::abs(log_ratio) < std::log(kFarFromHarmonic) ||
          std::abs(log_ratio) < kSigmas * error) {
        continue;
      }
      const auto t_K = baths_.temperature_K(bath);
      const std::string found = fmt::format(
          "the populations of isomers {} and {}{} have a ratio of {:.3g}; the harmonic "
          "superposition gives {:.3g} (harmonic_share of {}.csv)",
          shares[0].number, shares[1].number, t_K ? fmt::format(" at {:g} K", *t_K) : "",
          a.value / b.value, a.harmonic / b.harmonic, t_K ? "isomers_by_bath" : "isomers");
      if (changes_[bath] && has_forgotten(bath)) {
        return Message::note(found +
                             ". The clusters changed often, so they are probably anharmonic");
      }
      return Message::warning(found +
                              ". Either they are anharmonic, or the clusters remember their start");
    }
    return std::nullopt;
  }
  /// Nan with a potential.
  double dipole_D(const analysis::Isomer& isomer) const {
    if (info_.potential) return kNoNumber;
    if (model_.is_many_body()) {
      const auto [x, y, z] = many_body_dipole_e_A(model_, isomer.positions_A);
      return units::debye_per_e_A * std::hypot(x, y, z);
    }
    return analysis::cluster_dipole(isomer.positions_A, model_.dipole_charge_e()).cluster_D;
  }
  double lowest() const { return census_.isomers().front().energy_kcal_per_mol; }
  void write_table() const {
    io::CsvTable csv(
        path("isomers.csv"),
        with_shares({"isomer", "minimum_kcal_per_mol", "above_lowest_kcal_per_mol",
                     "hydrogen_bonds", "radius_of_gyration_A", "dipole_D", "symmetry_order"}),
        info_.provenance + "; lowest minima found by quenching samples, all replicas pooled; " +
            text_of_columns());
    std::size_t number = 0;
    for (const analysis::Isomer& isomer : census_.isomers()) {
      const analysis::ClusterShape shape = analysis::cluster_shape(isomer.positions_A);
      csv.cells(++number, isomer.energy_kcal_per_mol, isomer.energy_kcal_per_mol - lowest(),
                shape.hydrogen_bonds, shape.radius_of_gyration_A);
      csv.cell_or_nan(dipole_D(isomer)).cell(analysis::symmetry_order(isomer.positions_A));
      put_share(number - 1, census_.all(), csv);
      csv.end_row();
    }
    csv.write();
  }
  void write_table_by_bath() const {
    io::CsvTable csv(
        path("isomers_by_bath.csv"), with_shares({"bath_K", "isomer", "above_lowest_kcal_per_mol"}),
        info_.provenance + "; minima of isomers.csv, replicas of each temperature pooled; " +
            text_of_columns());
    for (std::size_t bath = 0; bath < baths_.size(); ++bath) {
      std::size_t number = 0;
      for (const analysis::Isomer& isomer : census_.isomers()) {
        csv.cells(baths_.temperature_K(bath).value(), ++number,
                  isomer.energy_kcal_per_mol - lowest());
        put_share(number - 1, bath, csv);
        csv.end_row();
      }
    }
    csv.write();
  }
  std::string structures() const {
    std::string text;
    int number = 0;
    const std::string keys =
        io::system_keys(info_.potential ? info_.potential->name() : "", isotopes_);
    for (const analysis::Isomer& isomer : census_.isomers()) {
      std::vector<double> positions_A = isomer.positions_A;
      start::move_centre_to_origin(model_, positions_A);
      const std::string energy = io::exact(isomer.energy_kcal_per_mol);
      text +=
          io::xyz_frame(positions_A, {},
                        fmt::format("model={} {}isomer={} minimum_kcal_per_mol={} pbc=\"F F F\"",
                                    model_.name, keys, ++number, energy));
    }
    return text;
  }
  std::string path(const char* name) const { return info_.out_dir + "/" + name; }

  WaterModel model_;
  std::string isotopes_;  ///< isotope_names()
  RunInfo info_;
  Baths baths_;
  int beads_;
  // Replicas per ladder, which contains all baths; exchange correlates the replicas of a ladder.
  std::int64_t part_;
  double tolerance_kcal_per_mol_A_;
  analysis::IsomerCensus census_;
  // From the last finish():
  /// [group] Of the walkers of a bath, or of all; with exchange the same for all baths. Nothing
  /// with fewer than two populated isomers.
  std::vector<std::optional<StructureChanges>> changes_;
  std::vector<std::vector<double>> harmonic_;  // [group][isomer]; nan: not known
  // Data of the last frame:
  std::size_t size_ = 0;
  std::vector<double> positions_A_;  // [replica][molecule][9], quenched
  std::vector<double> energies_;     // [replica]; nan: not known
};

std::unique_ptr<Observer> make_minima(const ObserveMinima& section, const ObserverContext& info) {
  const auto minima = std::make_shared<Minima>(section, info);
  TableSpec spec;
  spec.file = "minima";
  spec.fields = kPositions;
  spec.columns = {"minimum_kcal_per_mol", "minimum_hydrogen_bonds", "minimum_radius_of_gyration_A"};
  spec.averaged_columns = spec.columns.size();
  spec.rows_may_be_unknown = true;
  spec.steady_columns = {0, 1};
  // A potential is called by one thread at a time, and walkers are those of this step.
  spec.may_lag = info.potential == nullptr && !info.walker_at;
  spec.prepare = [minima](const Frame& frame) { minima->quench(frame); };
  spec.append_values = [minima](const Frame&, std::size_t r, std::vector<double>& values) {
    minima->append_values(r, values);
  };
  spec.archive = [minima](io::Archive& a) { minima->archive(a); };
  spec.finish = [minima] { minima->finish(); };
  spec.more_messages = [minima] { return minima->messages(); };
  spec.structure_changes = [minima] { return minima->structure_changes(); };
  return make_table(std::move(spec), section, info);
}

}  // namespace

Observable minima_observable() {
  return observable(
      &Deck::minima, make_minima,
      {"isomers.*", "minima.csv", "isomers_by_bath.csv", "isomers.xyz", "isomers_structures.svg"},
      "; of the centroids");
}

}  // namespace tarn
