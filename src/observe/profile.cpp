#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include <fmt/format.h>

#include "analysis/blocking.hpp"
#include "analysis/rdf.hpp"
#include "baths.hpp"
#include "io/archive.hpp"
#include "observable.hpp"
#include "physics/radial.hpp"
#include "tarn/core/number.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

using analysis::PooledBlocking;

/// Atoms in a shell.
struct ShellCount {
  double mass_Da = 0.0, oxygens = 0.0, hydrogens = 0.0;
  double cosine = 0.0;  ///< sum over the oxygens
};
using ShellCounts = std::vector<ShellCount>;

/// Means of a table, per shell, over all replicas or those of one bath.
class ProfileMeans {
 public:
  ProfileMeans(int replicas, int bins)
      : series_(PooledBlocking::series_of_replicas(replicas)),
        mass_(static_cast<std::size_t>(bins), PooledBlocking::of_replicas(replicas)),
        oxygens_(mass_),
        hydrogens_(mass_),
        cosines_(mass_) {}

  std::size_t series() const { return series_; }
  /// Adds what one replica or more of a series have in each shell at one time.
  void add(std::size_t series, double replicas, const ShellCounts& shells) {
    for (std::size_t b = 0; b < mass_.size(); ++b) {
      const auto& [mass_Da, oxygens, hydrogens, cosine] = shells[b];
      mass_[b].add(series, mass_Da, replicas);
      oxygens_[b].add(series, oxygens, replicas);
      hydrogens_[b].add(series, hydrogens, replicas);
      if (oxygens > 0.0) cosines_[b].add(series, cosine, oxygens);
    }
  }
  /// Appends the rows of the table, each preceded by `bath_K` if given.
  void append_rows(std::optional<double> bath_K, double r_max_A, io::CsvTable& csv) const {
    const int bins = static_cast<int>(mass_.size());
    const std::vector<double> r_A = analysis::bin_centres_A(r_max_A, bins);
    const std::vector<double> volumes_A3 = analysis::shell_volumes_A3(r_max_A, bins);
    double within = 0.0;
    for (std::size_t b = 0; b < mass_.size(); ++b) {
      const auto density = [&](const PooledBlocking& sums, double unit) {
        const analysis::Blocking mean = sums.result();
        csv.cells(unit / volumes_A3[b] * mean.mean, unit / volumes_A3[b] * mean.error);
      };
      if (bath_K) csv.cell(*bath_K);
      csv.cell(r_A[b]);
      density(mass_[b], units::g_per_cm3_of_Da_per_A3);
      density(oxygens_[b], 1.0);
      density(hydrogens_[b], 1.0);
      const bool known = cosines_[b].samples() > 0.0;
      const analysis::Blocking cosine = cosines_[b].result();
      csv.cells_or_nan(known ? cosine.mean : kNoNumber, known ? cosine.error : kNoNumber);
      within += oxygens_[b].result().mean;
      csv.cell(within);
      csv.end_row();
    }
  }

  void archive(io::Archive& a) { a.fixed(mass_, oxygens_, hydrogens_, cosines_); }

 private:
  using Shells = std::vector<PooledBlocking>;

  std::size_t series_;
  Shells mass_, oxygens_, hydrogens_, cosines_;
};

/// Writes profile.csv and, with several baths, profile_by_bath.csv.
class ProfileObserver final : public ArchivedObserver {
 public:
  ProfileObserver(const ObserveProfile& section, const ObserverContext& info)
      : section_(section),
        info_(info),
        baths_(info),
        oxygen_Da_(info.model.mass_o_Da),
        hydrogen_Da_(info.model.mass_h_Da) {
    if (const auto& isotopes_Da = info.system.atom_masses_Da; !isotopes_Da.empty()) {
      oxygen_Da_ = hydrogen_Da_ = 0.0;
      const auto molecules = static_cast<double>(isotopes_Da.size());
      for (const auto& [o, h1, h2] : isotopes_Da) {
        oxygen_Da_ += o / molecules;
        hydrogen_Da_ += 0.5 * (h1 + h2) / molecules;
      }
    }
    tables_.emplace_back(info.replicas, section.bins);
    if (baths_.size() > 1) {
      for (const int replicas : baths_.replicas()) tables_.emplace_back(replicas, section.bins);
    }
  }

  std::string name() const override {
    return fmt::format("profile every {} from step {} bins {} r_max_A {:.17g} baths {}",
                       section_.every, info_.first_averaged_step, section_.bins, section_.r_max_A,
                       baths_.size());
  }
  unsigned fields() const override { return kRadialCounts; }
  std::int64_t every() const override { return section_.every; }
  bool may_lag() const override { return true; }
  void configure(MeasureSettings& settings) const override {
    settings.radial = {section_.r_max_A, section_.bins, baths_.groups()};
  }
  void observe(const Frame& frame) override {
    if (frame.step < info_.first_averaged_step) return;
    struct Part {
      ShellCounts shells;
      double replicas = 0.0;
    };
    // Keyed by table and series.
    std::map<std::pair<std::size_t, std::size_t>, Part> parts;
    const RadialCounts& counts = frame.radial_counts;
    const auto bins = static_cast<std::size_t>(section_.bins);
    for (int group = 0; group < baths_.groups(); ++group) {
      const auto g = static_cast<std::size_t>(group);
      if (counts.replicas[g] == 0) continue;
      const auto add = [&](std::size_t table, std::int64_t replica) {
        const std::size_t series = sample_group(replica, tables_[table].series());
        Part& to = parts.try_emplace({table, series}, Part{ShellCounts(bins)}).first->second;
        to.replicas += static_cast<double>(counts.replicas[g]);
        for (std::size_t b = 0; b < bins; ++b) {
          const auto oxygens = static_cast<double>(counts.oxygens[g * bins + b]);
          const auto hydrogens = static_cast<double>(counts.hydrogens[g * bins + b]);
          ShellCount& shell = to.shells[b];
          shell.mass_Da += oxygens * oxygen_Da_ + hydrogens * hydrogen_Da_;
          shell.oxygens += oxygens;
          shell.hydrogens += hydrogens;
          shell.cosine += kCosineUnit * static_cast<double>(counts.cosines[g * bins + b]);
        }
      };
      add(0, group);
      if (tables_.size() > 1) add(1 + baths_.of(group), baths_.index_in_bath(group));
    }
    for (const auto& [at, part] : parts)
      tables_[at.first].add(at.second, part.replicas, part.shells);
  }
  void finish() override {
    write("profile", std::span(tables_).first(1));
    if (tables_.size() > 1) write("profile_by_bath", std::span(tables_).subspan(1));
  }

 private:
  void archive(io::Archive& a) override { a.fixed(tables_); }
  void write(const char* name, std::span<const ProfileMeans> tables) const {
    const bool by_bath = &tables.front() != &tables_.front();
    std::vector<std::string> header{"r_A"};
    if (by_bath) header.insert(header.begin(), "bath_K");
    for (const char* column :
         {"density_g_per_cm3", "oxygens_per_A3", "hydrogens_per_A3", "cos_dipole"}) {
      header.emplace_back(column);
      header.push_back(fmt::format("{}_err", column));
    }
    header.emplace_back("molecules_within");
    io::CsvTable csv(
        fmt::format("{}/{}.csv", info_.out_dir, name), header,
        fmt::format("{}; {} pooled; r = distance from the centre of mass; cos_dipole = mean cosine "
                    "of the angle between the outward radial direction and the dipoles of "
                    "molecules with their oxygen in the shell (nan: none); molecules_within = "
                    "oxygens up to the upper edge of the bin; _err = standard error by blocking",
                    info_.provenance, by_bath ? "replicas of each bath" : "all replicas"));
    for (std::size_t t = 0; t < tables.size(); ++t) {
      tables[t].append_rows(by_bath ? baths_.temperature_K(t) : std::nullopt, section_.r_max_A,
                            csv);
    }
    csv.write();
  }

  ObserveProfile section_;
  ObserverContext info_;
  Baths baths_;
  double oxygen_Da_, hydrogen_Da_;    ///< with isotopes, means over the molecules
  std::vector<ProfileMeans> tables_;  // all replicas, then each bath
};

}  // namespace

Observable profile_observable() {
  return observable(&Deck::profile, construct<ProfileObserver>,
                    {"profile.*", "profile_by_bath.csv"}, "; over all beads");
}

}  // namespace tarn
