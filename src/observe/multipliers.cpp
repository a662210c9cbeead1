#include <deque>

#include <fmt/format.h>

#include "io/archive.hpp"
#include "observable.hpp"
#include "table_observer.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

/// Definition of the multipliers, with the equation numbers of docs/equations.md.
std::string_view equation_of(const IntegratorSpec& integrator) {
  if (is_rigid(integrator.scheme)) {
    return "M a = F0 + J^T lambda, J M^-1 J^T lambda = -J M^-1 F0 - 2 |d'|^2 (31)";
  }
  if (integrator.scheme == Scheme::zss_stiff && integrator.hessian != Hessian::gauss_newton) {
    return integrator.hessian == Hessian::full
               ? "lambda = -omega^2 (g + b h^2 J a), M a = F0 + J^T lambda - b h^2 omega^2 Sum g_c "
                 "grad^2 g_c a (14)"
               : "lambda = -omega^2 (g + b h^2 J a), M a = F0 + J^T lambda - b h^2 (omega^2 Sum "
                 "g_c grad^2 g_c + grad^2 V0) a (14)";
  }
  return "M a = F0 + J^T lambda (14)";
}

/// Writes the multipliers of each molecule, averaged over a window centred on each row.
class MultipliersObserver final : public ArchivedObserver {
 public:
  MultipliersObserver(const ObserveMultipliers& section, const ObserverContext& info)
      : section_(section),
        equation_(equation_of(info.system.integrator)),
        info_(info),
        csv_(info.out_dir + "/multipliers.csv",
             {"step", "time_ps", "replica", "molecule", "lambda_OH1", "lambda_OH2", "lambda_HH"}) {}

  std::string name() const override {
    return fmt::format("multipliers every {} window {} replicas {}", section_.every,
                       section_.window_steps, selection_text(section_.replicas));
  }
  unsigned fields() const override { return kMultipliers; }
  /// A window needs every step.
  std::int64_t every() const override { return section_.window_steps > 1 ? 1 : section_.every; }
  void begin() override {
    csv_.create(fmt::format("{}; kcal/mol/A^2, {}, mean over {} steps centred on each row",
                            info_.provenance, equation_, section_.window_steps));
  }

  void observe(const Frame& frame) override {
    Sample sample{frame.step, info_.time_ps(frame.step), {}, {}};
    const std::size_t size = static_cast<std::size_t>(frame.molecules) * 3;
    for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
      if (section_.replicas.kind == ReplicaSelection::Kind::first &&
          frame.replica_ids[r] >= section_.replicas.count) {
        continue;
      }
      sample.replicas.push_back(frame.replica_ids[r]);
      const auto begin =
          frame.multipliers_kcal_per_mol_A2.begin() + static_cast<std::ptrdiff_t>(r * size);
      sample.values.insert(sample.values.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
    }
    samples_.push_back(std::move(sample));
    if (static_cast<std::int64_t>(samples_.size()) < section_.window_steps) return;
    const Sample& middle = samples_[samples_.size() / 2];
    if (middle.step % section_.every == 0) write(middle, size);
    samples_.pop_front();
  }

  void finish() override { csv_.flush(); }

 private:
  void archive(io::Archive& a) override {
    a(csv_);
    a.list(samples_, [&a](Sample& s) { a(s.step, s.time_ps, s.replicas, s.values); });
  }

  struct Sample {
    std::int64_t step = 0;
    double time_ps = 0.0;
    std::vector<std::int64_t> replicas;
    std::vector<double> values;  ///< [replica][molecule][3]
  };

  /// Writes rows for the replicas that were live during the whole window.
  void write(const Sample& middle, std::size_t size) {
    const Sample& last = samples_.back();
    for (const std::int64_t replica : last.replicas) {
      std::vector<double> mean(size, 0.0);
      for (const Sample& s : samples_) {
        std::size_t r = 0;
        while (s.replicas[r] != replica) ++r;
        for (std::size_t k = 0; k < size; ++k) mean[k] += s.values[r * size + k];
      }
      for (std::size_t m = 0; m < size / 3; ++m) {
        csv_.cell(middle.step).cell(middle.time_ps).cell(replica);
        csv_.cell(static_cast<std::int64_t>(m));
        for (std::size_t c = 0; c < 3; ++c) {
          csv_.cell(mean[3 * m + c] / static_cast<double>(samples_.size()));
        }
        csv_.end_row();
      }
    }
  }

  ObserveMultipliers section_;
  std::string_view equation_;
  RunInfo info_;
  io::CsvWriter csv_;
  std::deque<Sample> samples_;
};

}  // namespace

Observable multipliers_observable() {
  return observable(&Deck::multipliers, construct<MultipliersObserver>, {"multipliers.csv"});
}

}  // namespace tarn
