#include <cstdint>

#include <fmt/format.h>

#include "correlations.hpp"
#include "observable.hpp"
#include "table_observer.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

class CorrelationObserver final : public ArchivedObserver {
 public:
  CorrelationObserver(const ObserveCorrelation& section, const ObserverContext& info)
      : section_(section),
        info_(info),
        correlations_(section, info.model, info.molecules, info.replicas, info.timestep_fs) {}

  std::string name() const override {
    return fmt::format("correlation every {} lags {} from step {} replicas {}", section_.every,
                       correlations_.longest(), info_.first_averaged_step,
                       selection_text(section_.replicas));
  }
  unsigned fields() const override { return kPositions; }
  std::int64_t every() const override {
    return correlations_.empty() ? info_.first_sample(section_.every) : section_.every;
  }
  void observe(const Frame& frame) override {
    if (frame.step >= info_.first_averaged_step) correlations_.observe(frame, info_.threads);
  }
  void finish() override {
    io::CsvTable csv(info_.out_dir + "/correlation.csv", Correlations::header(),
                     info_.provenance + "; " + std::string(Correlations::kRemark));
    for (std::size_t lag = 0; correlations_.has_rows() && lag <= correlations_.longest(); ++lag) {
      correlations_.append_cells(lag, csv);
      csv.end_row();
    }
    csv.write();
  }
  std::vector<AveragedQuantity> averages() const override { return correlations_.times(); }
  Messages messages() const override {
    Messages messages;
    append(correlations_.warning(), messages);
    return messages;
  }

 private:
  void archive(io::Archive& a) override { a(correlations_); }

  ObserveCorrelation section_;
  ObserverContext info_;
  Correlations correlations_;
};

}  // namespace

Observable correlation_observable() {
  return observable(&Deck::correlation, construct<CorrelationObserver>, {"correlation.*"},
                    "; of the centroids");
}

}  // namespace tarn
