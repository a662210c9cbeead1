#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "baths.hpp"
#include "core/parallel.hpp"
#include "observable.hpp"
#include "picture_parts.hpp"
#include "start/centre.hpp"
#include "start/shared_calls.hpp"
#include "table_observer.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/analysis/isomers.hpp"
#include "tarn/analysis/symmetry.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/io/xyz.hpp"
#include "tarn/minimise.hpp"
#include "tarn/observe/structure_picture.hpp"

namespace tarn {
namespace {

constexpr std::string_view kErrors =
    "share_err = standard error by blocking (0 if all samples agree); converged = 0: share_err is "
    "a lower bound";

/// Quenches a cluster. @return energy of the minimum; nan if the quench fails
double minimum_near(ForceField& force_field, std::span<double> positions_A,
                    double tolerance_kcal_per_mol_A) {
  try {
    const MinimiseResult r =
        quench_to_minimum(force_field, positions_A, {tolerance_kcal_per_mol_A});
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
  Minima(const ObserveMinima& section, const ObserverContext& info)
      : model_(info.model),
        info_(info),
        baths_(info),
        beads_(info.system.path_integral.beads),
        part_(baths_.size() > 1 ? static_cast<std::int64_t>(info.baths_K.size()) : 1),
        tolerance_kcal_per_mol_A_(section.tolerance_kcal_per_mol_A),
        census_(static_cast<std::size_t>(section.isomers),
                analysis::kSameMinimum_A * tolerance_kcal_per_mol_A_, baths_.replicas(),
                static_cast<int>((info.replicas + part_ - 1) / part_)) {}

  /// Quenches copies of all replicas, with a potential those of many replicas at a time, and, after
  /// equilibration, counts the minima.
  void quench(const Frame& frame) {
    const std::size_t replicas = frame.replica_ids.size();
    size_ = 9 * static_cast<std::size_t>(frame.molecules);
    positions_A_ = frame.positions_A;
    energies_.assign(replicas, std::numeric_limits<double>::quiet_NaN());
    const auto quench_one = [&](ForceField& force_field, std::int64_t i) {
      const auto r = static_cast<std::size_t>(i);
      energies_[r] = minimum_near(force_field, quenched(r), tolerance_kcal_per_mol_A_);
    };
    if (info_.potential) {
      start::share_calls(*info_.potential, image_ids(frame), info_.replicas,
                         [&](std::int64_t i, const std::shared_ptr<Potential>& own) {
                           ForceField force_field(model_, frame.molecules, own);
                           quench_one(force_field, i);
                         });
    } else {
      for_each_index(
          static_cast<std::int64_t>(replicas), info_.threads,
          [&](int) { return ForceField(model_, frame.molecules); }, quench_one);
    }
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
  /// Ids of the replicas for a potential; those below belong to the engine.
  std::vector<std::int64_t> image_ids(const Frame& frame) const {
    std::vector<std::int64_t> ids = frame.replica_ids;
    for (std::int64_t& id : ids) id += std::int64_t{info_.replicas} * beads_;
    return ids;
  }
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
  /// From the charges of the model; nan with a potential.
  double dipole_D(const analysis::Isomer& isomer) const {
    if (info_.potential) return std::numeric_limits<double>::quiet_NaN();
    return analysis::cluster_dipole(isomer.positions_A, model_.dipole_charge_e()).cluster_D;
  }
  double lowest() const { return census_.isomers().front().energy_kcal_per_mol; }
  std::string table() const;
  std::string table_by_bath() const;
  std::string structures() const;
  std::string path(const char* name) const { return info_.out_dir + "/" + name; }

  WaterModel model_;
  RunInfo info_;
  Baths baths_;
  int beads_;
  // Replicas per ladder, which contains all baths; exchange correlates the replicas of a ladder.
  std::int64_t part_;
  double tolerance_kcal_per_mol_A_;
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
    csv.cell_or_nan(dipole_D(isomer));
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

/// Label of a curve.
std::string isomer_label(double number, double above_kcal_per_mol) {
  if (number == 1.0) return "isomer 1 (lowest)";
  // Enough decimals to distinguish close minima.
  const int decimals = std::max(2, analysis::decimals_for(above_kcal_per_mol));
  return fmt::format("isomer {}, +{:.{}f} kcal/mol", static_cast<int>(number), above_kcal_per_mol,
                     decimals);
}

/// Explains the marks on the axis label, if there are any.
void explain_marks(io::Plot& plot) {
  for (const io::Series& series : plot.series) {
    if (std::find(series.marks.begin(), series.marks.end(), "*") == series.marks.end()) continue;
    plot.x_label += kLowerBoundExplained;
    return;
  }
}

/// Populations against temperature, for the most populated minima.
io::Plot shares_by_bath(const std::string& table) {
  constexpr std::size_t kMost = 6;
  io::CsvReader csv(table);
  const std::size_t bath = csv.column("bath_K"), isomer = csv.column("isomer");
  const std::size_t above = csv.column("above_lowest_kcal_per_mol");
  const std::size_t share = csv.column("share"), error = csv.column("share_err");
  const std::size_t samples = csv.column("of_samples"), converged = csv.column("converged");
  io::Plot plot;
  plot.title = title_of("Inherent structures", csv.provenance());
  plot.x_label = "temperature (K)     bars: standard error";
  plot.y_label = "population";
  plot.y_range = {{0.0, 1.0}};
  std::map<double, io::Series> curves;
  std::map<double, std::vector<double>> errors;
  std::map<double, double> rest;
  Cells cells;
  while (csv.next(cells)) {
    if (csv.number(cells[samples]) == 0.0) continue;
    const double number = csv.number(cells[isomer]), bath_K = csv.number(cells[bath]);
    io::Series& curve = curves[number];
    curve.label = isomer_label(number, csv.number(cells[above]));
    curve.x.push_back(bath_K);
    curve.y.push_back(csv.number(cells[share]));
    errors[number].push_back(csv.number(cells[error]));
    curve.marks.emplace_back(mark_of_lower_bound(csv.number(cells[converged]) != 0.0));
    rest.try_emplace(bath_K, 1.0);
  }
  const auto largest = [&](double number) {
    return *std::max_element(curves[number].y.begin(), curves[number].y.end());
  };
  std::vector<double> shown;
  for (const auto& [number, curve] : curves) shown.push_back(number);
  std::stable_sort(shown.begin(), shown.end(),
                   [&](double a, double b) { return largest(a) > largest(b); });
  shown.resize(std::min(shown.size(), kMost));
  std::sort(shown.begin(), shown.end());
  for (const double number : shown) {
    io::Series& curve = curves[number];
    for (std::size_t i = 0; i < curve.x.size(); ++i) rest[curve.x[i]] -= curve.y[i];
    curve.style = io::Series::Style::marked_line;
    curve.set_error(errors[number]);
    plot.series.push_back(std::move(curve));
  }
  io::Series& others = plot.series.emplace_back();
  others.label = "all others";
  others.colour = "#888888";
  others.dashed = true;
  for (const auto& [bath_K, value] : rest) {
    others.x.push_back(bath_K);
    others.y.push_back(std::max(value, 0.0));
  }
  explain_marks(plot);
  if (!rest.empty()) {
    const double margin = 0.02 * (rest.rbegin()->first - rest.begin()->first);
    plot.x_range = {{rest.begin()->first - margin, rest.rbegin()->first + margin}};
  }
  return plot;
}

/// Populations of all minima against their energies.
io::Plot shares_by_energy(const std::string& table) {
  io::CsvReader csv(table);
  const std::size_t above = csv.column("above_lowest_kcal_per_mol");
  const std::size_t share = csv.column("share"), error = csv.column("share_err");
  const std::size_t converged = csv.column("converged");
  io::Plot plot;
  plot.title = title_of("Inherent structures", csv.provenance());
  plot.x_label = "energy above the lowest minimum found (kcal/mol)     bars: standard error";
  plot.y_label = "population";
  io::Series& points = plot.series.emplace_back();
  points.style = io::Series::Style::points;
  std::vector<double> errors;
  Cells cells;
  while (csv.next(cells)) {
    points.x.push_back(csv.number(cells[above]));
    points.y.push_back(csv.number(cells[share]));
    errors.push_back(csv.number(cells[error]));
    points.marks.emplace_back(mark_of_lower_bound(csv.number(cells[converged]) != 0.0));
  }
  explain_marks(plot);
  double highest = 0.0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    highest = std::max(highest, points.y[i] + (std::isfinite(errors[i]) ? errors[i] : 0.0));
  }
  if (highest > 0.0) plot.y_range = {{0.0, 1.05 * highest}};
  points.set_error(errors);
  if (!points.x.empty())
    plot.x_range = {{-0.03 * points.x.back() - 0.01, 1.03 * points.x.back() + 0.01}};
  return plot;
}

/// Structures of the lowest isomers, as many as one picture can show.
std::vector<DrawnCluster> lowest_isomers(const std::string& path) {
  constexpr std::size_t kMost = 12;
  int molecules = 0;
  std::vector<DrawnCluster> clusters;
  io::XyzReader reader(path);
  while (clusters.size() < kMost) {
    const auto structure = reader.next();
    if (!structure) break;
    molecules += structure->molecules;
    if (molecules > kMostDrawnMolecules) break;
    clusters.push_back({structure->positions_A, label_of_frame(*structure)});
  }
  return clusters;
}

/// Populations of the lowest minima: against their energies, from isomers.csv, or with several
/// baths against bath temperature, from isomers_by_bath.csv. Also draws the twelve lowest
/// structures of isomers.xyz, `isomers_structures.svg`.
Pictures draw_isomers(const std::string& folder, const io::PictureFormats& formats) {
  const std::string by_bath = folder + "/isomers_by_bath.csv";
  const io::Plot plot = std::filesystem::exists(by_bath)
                            ? shares_by_bath(by_bath)
                            : shares_by_energy(folder + "/isomers.csv");
  if (plot.series.front().x.empty()) {
    return {{},
            {Message::warning(
                "isomers.csv has no rows and no picture: [observe.minima] has no step after "
                "equilibration")}};
  }
  Pictures pictures = pictures_of(io::draw(plot, folder + "/isomers", formats));
  const std::string structures = folder + "/isomers.xyz";
  const bool wanted =
      std::find(formats.begin(), formats.end(), io::PictureFormat::svg) != formats.end();
  if (!wanted || !std::filesystem::exists(structures)) return pictures;
  const std::vector<DrawnCluster> clusters = lowest_isomers(structures);
  if (clusters.empty()) return pictures;
  pictures.paths.push_back(folder + "/isomers_structures.svg");
  io::write_file(pictures.paths.back(), structure_svg(clusters, {}));
  return pictures;
}

std::unique_ptr<Observer> make_minima(const ObserveMinima& section, const ObserverContext& info) {
  const auto minima = std::make_shared<Minima>(section, info);
  TableSpec spec;
  spec.file = "minima";
  spec.fields = kPositions;
  spec.columns = {"minimum_kcal_per_mol", "minimum_hydrogen_bonds", "minimum_radius_of_gyration_A"};
  spec.averaged_columns = spec.columns.size();
  spec.rows_may_be_unknown = true;
  // A potential is called by one thread at a time.
  spec.may_lag = info.potential == nullptr;
  spec.prepare = [minima](const Frame& frame) { minima->quench(frame); };
  spec.append_values = [minima](const Frame&, std::size_t r, std::vector<double>& values) {
    minima->append_values(r, values);
  };
  spec.save = [minima](std::ostream& out) { minima->save(out); };
  spec.load = [minima](std::istream& in) { minima->load(in); };
  spec.finish = [minima] { minima->write(); };
  return make_table(std::move(spec), section, info);
}

}  // namespace

Observable minima_observable() {
  return observable(
      &Deck::minima, make_minima,
      {"isomers.*", "minima.csv", "isomers_by_bath.csv", "isomers.xyz", "isomers_structures.svg"},
      draw_isomers, "; of the centroids");
}

}  // namespace tarn
