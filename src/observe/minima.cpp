#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "baths.hpp"
#include "core/parallel.hpp"
#include "makers.hpp"
#include "start/centre.hpp"
#include "table_observer.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/analysis/isomers.hpp"
#include "tarn/analysis/symmetry.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/xyz.hpp"
#include "tarn/minimise.hpp"
#include "tarn/observe/pictures.hpp"

namespace tarn {
namespace {

/// Force tolerance of the quench; see kSameMinimum_kcal_per_mol.
constexpr double kTolerance_kcal_per_mol_A = 1e-6;
constexpr std::string_view kErrors =
    "share_err = standard error by blocking (0 if all samples agree); converged = 0: share_err is "
    "a lower bound";

/// Quenches a cluster. @return energy of the minimum; nan if the quench fails
double minimum_near(ForceField& force_field, std::span<double> positions_A) {
  try {
    const MinimiseResult r =
        quench_to_minimum(force_field, positions_A, {kTolerance_kcal_per_mol_A});
    const bool whole = !analysis::first_evaporated_molecule(positions_A, analysis::kLink_A);
    if (r.converged && whole) return r.energy_kcal_per_mol;
  } catch (const InputError&) {
    // Collinear molecules or overlapping atoms: the replica is about to blow up.
  } catch (const NumericalError&) {
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// Population of a minimum: fraction of the samples of one bath or of all.
struct Share {
  double samples = 0.0, value = 0.0, error = 0.0;
  bool converged = true;  // false: the error is a lower bound
};

/// Results of all quenches of a run.
class Minima {
 public:
  Minima(const ObserveMinima& section, const Deck& deck, const RunInfo& info)
      : model_(water_model(deck)),
        info_(info),
        baths_(info),
        part_(baths_.size() > 1 ? static_cast<std::int64_t>(info.baths_K.size()) : 1),
        census_(static_cast<std::size_t>(section.isomers), baths_.replicas(),
                static_cast<int>((info.replicas + part_ - 1) / part_)) {}

  /// Quenches copies of all replicas and, after equilibration, counts the minima.
  void quench(const Frame& frame) {
    const std::size_t replicas = frame.replica_ids.size();
    size_ = 9 * static_cast<std::size_t>(frame.molecules);
    positions_A_ = frame.positions_A;
    energies_.assign(replicas, std::numeric_limits<double>::quiet_NaN());
    for_each_index(
        static_cast<std::int64_t>(replicas), info_.threads,
        [&](int) { return ForceField(model_, frame.molecules); },
        [&](ForceField& force_field, std::int64_t i) {
          const auto r = static_cast<std::size_t>(i);
          energies_[r] = minimum_near(force_field, quenched(r));
        });
    if (frame.step < info_.first_averaged_step) return;
    std::vector<analysis::QuenchedCluster> clusters;
    for (std::size_t r = 0; r < replicas; ++r) {
      if (std::isnan(energies_[r])) continue;
      const std::int64_t id = frame.replica_ids[r];
      clusters.push_back(
          {baths_.of(id), baths_.index_in_bath(id), id / part_, energies_[r], quenched(r)});
    }
    census_.add(clusters);
  }

  void append_values(std::size_t r, std::vector<double>& values) {
    const bool known = !std::isnan(energies_[r]);
    const analysis::ClusterShape shape =
        known ? analysis::cluster_shape(quenched(r)) : analysis::ClusterShape{};
    values.push_back(energies_[r]);
    values.push_back(known ? shape.hydrogen_bonds : energies_[r]);
    values.push_back(known ? shape.radius_of_gyration_A : energies_[r]);
  }

  void save(std::ostream& out) const;
  void load(std::istream& in);
  void write() const;

 private:
  std::span<double> quenched(std::size_t r) {
    return std::span(positions_A_).subspan(r * size_, size_);
  }
  /// Population among the samples of one bath or of all.
  Share share(const analysis::Isomer& isomer, std::size_t group) const {
    const analysis::Blocking share = isomer.shares[group].result();
    const bool forgot_the_start = !info_.has_mixed || info_.has_mixed();
    return {std::round(share.mean * census_.samples(group)), share.mean, share.error,
            share.converged && forgot_the_start};
  }
  void put_share(const analysis::Isomer& isomer, std::size_t group, io::CsvFormat& csv) const {
    const Share s = share(isomer, group);
    csv.cell(static_cast<std::int64_t>(s.samples));
    csv.cell(static_cast<std::int64_t>(census_.samples(group)));
    csv.cell(s.value).cell(s.error).cell(std::int64_t{s.converged});
  }
  double lowest() const { return census_.isomers().front().energy_kcal_per_mol; }
  std::string table() const;
  std::string table_by_bath() const;
  std::string structures() const;
  std::string path(const char* name) const { return info_.out_dir + "/" + name; }

  WaterModel model_;
  RunInfo info_;
  Baths baths_;
  // Replicas per ladder, which contains all baths; exchange correlates the replicas of a ladder.
  std::int64_t part_;
  analysis::IsomerCensus census_;
  // Data of the last frame:
  std::size_t size_ = 0;
  std::vector<double> positions_A_;  // [replica][molecule][9], quenched
  std::vector<double> energies_;     // [replica]; nan: not known
};

std::string Minima::table() const {
  io::CsvFormat csv(path("isomers.csv"),
                    {"isomer", "minimum_kcal_per_mol", "above_lowest_kcal_per_mol",
                     "hydrogen_bonds", "radius_of_gyration_A", "dipole_D", "symmetry_order",
                     "samples", "of_samples", "share", "share_err", "converged"});
  std::string text = csv.head(info_.provenance +
                              "; lowest minima found by quenching samples, all replicas pooled; " +
                              std::string(kErrors));
  std::int64_t number = 0;
  for (const analysis::Isomer& isomer : census_.isomers()) {
    const analysis::ClusterShape shape = analysis::cluster_shape(isomer.positions_A);
    csv.cell(++number).cell(isomer.energy_kcal_per_mol);
    csv.cell(isomer.energy_kcal_per_mol - lowest()).cell(std::int64_t{shape.hydrogen_bonds});
    csv.cell(shape.radius_of_gyration_A);
    csv.cell(analysis::cluster_dipole(isomer.positions_A, model_.dipole_charge_e()).cluster_D);
    csv.cell(std::int64_t{analysis::symmetry_order(isomer.positions_A)});
    put_share(isomer, census_.all(), csv);
    text += csv.row();
  }
  return text;
}

std::string Minima::table_by_bath() const {
  io::CsvFormat csv(path("isomers_by_bath.csv"),
                    {"bath_K", "isomer", "above_lowest_kcal_per_mol", "samples", "of_samples",
                     "share", "share_err", "converged"});
  std::string text =
      csv.head(info_.provenance + "; minima of isomers.csv, replicas of each temperature pooled; " +
               std::string(kErrors));
  for (std::size_t bath = 0; bath < baths_.size(); ++bath) {
    std::int64_t number = 0;
    for (const analysis::Isomer& isomer : census_.isomers()) {
      csv.cell(baths_.temperature_K(bath).value()).cell(++number);
      csv.cell(isomer.energy_kcal_per_mol - lowest());
      put_share(isomer, bath, csv);
      text += csv.row();
    }
  }
  return text;
}

std::string Minima::structures() const {
  std::string text;
  int number = 0;
  for (const analysis::Isomer& isomer : census_.isomers()) {
    std::vector<double> positions_A = isomer.positions_A;
    start::move_centre_to_origin(model_, positions_A);
    const std::string energy = io::exact(isomer.energy_kcal_per_mol);
    text += io::xyz_frame(positions_A, {},
                          fmt::format("model={} isomer={} minimum_kcal_per_mol={} pbc=\"F F F\"",
                                      model_.name, ++number, energy));
  }
  return text;
}

void Minima::write() const {
  io::write_file(path("isomers.csv"), table());
  if (baths_.size() > 1) io::write_file(path("isomers_by_bath.csv"), table_by_bath());
  io::write_file(path("isomers.xyz"), structures());
}

void Minima::save(std::ostream& out) const {
  for (const analysis::PooledBlocking& zeros : census_.elsewhere()) {
    io::put(out, std::span<const double>(zeros.memory()));
  }
  io::put(out, static_cast<std::uint64_t>(census_.isomers().size()));
  for (const analysis::Isomer& isomer : census_.isomers()) {
    io::put(out, isomer.energy_kcal_per_mol);
    io::put(out, std::span<const double>(isomer.positions_A));
    for (const analysis::PooledBlocking& share : isomer.shares) {
      io::put(out, std::span<const double>(share.memory()));
    }
  }
}

void Minima::load(std::istream& in) {
  std::vector<analysis::PooledBlocking> elsewhere = census_.elsewhere();
  for (analysis::PooledBlocking& zeros : elsewhere) zeros.restore(io::get_doubles(in));
  std::vector<analysis::Isomer> isomers;
  for (std::uint64_t n = io::get_u64(in); n > 0; --n) {
    analysis::Isomer& isomer = isomers.emplace_back();
    isomer.energy_kcal_per_mol = io::get_double(in);
    isomer.positions_A = io::get_doubles(in);
    isomer.shares = elsewhere;
    for (analysis::PooledBlocking& share : isomer.shares) share.restore(io::get_doubles(in));
  }
  census_.restore(std::move(isomers), std::move(elsewhere));
}

}  // namespace

std::unique_ptr<Observer> make_minima(const ObserveMinima& section, const Deck& deck,
                                      const RunInfo& info) {
  const auto minima = std::make_shared<Minima>(section, deck, info);
  TableSpec spec;
  spec.file = "minima";
  spec.fields = kPositions;
  spec.columns = {"minimum_kcal_per_mol", "minimum_hydrogen_bonds", "minimum_radius_of_gyration_A"};
  spec.averaged_columns = spec.columns.size();
  spec.rows_may_be_unknown = true;
  spec.prepare = [minima](const Frame& frame) { minima->quench(frame); };
  spec.append_values = [minima](const Frame&, std::size_t r, std::vector<double>& values) {
    minima->append_values(r, values);
  };
  spec.save = [minima](std::ostream& out) { minima->save(out); };
  spec.load = [minima](std::istream& in) { minima->load(in); };
  spec.finish = [minima] { minima->write(); };
  spec.draw = draw_isomers;
  return std::make_unique<TableObserver>(spec, section.every, section.replicas, info);
}

}  // namespace tarn
