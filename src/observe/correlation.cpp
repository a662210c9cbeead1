#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "correlations.hpp"
#include "observable.hpp"
#include "picture_parts.hpp"
#include "replica_table.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"

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
  void finish() override;
  std::vector<AveragedQuantity> averages() const override { return correlations_.times(); }
  Messages messages() const override {
    Messages messages;
    append(correlations_.warning(), messages);
    return messages;
  }
  Pictures draw() override { return info_.draw(info_.out_dir, io::kAllPictures); }

 private:
  void archive(io::Archive& a) override { a(correlations_); }

  ObserveCorrelation section_;
  ObserverContext info_;
  Correlations correlations_;
};

void CorrelationObserver::finish() {
  const std::string path = info_.out_dir + "/correlation.csv";
  io::CsvFormat csv(path, Correlations::header());
  std::string text = csv.head(info_.provenance + "; " + std::string(Correlations::kRemark));
  for (std::size_t lag = 0; correlations_.has_rows() && lag <= correlations_.longest(); ++lag) {
    correlations_.append_cells(lag, csv);
    text += csv.row();
  }
  io::write_file(path, text);
}

Pictures draw_correlation(const std::string& folder, const io::PictureFormats& formats) {
  io::CsvReader csv(folder + "/correlation.csv");
  struct Curve {
    std::size_t panel;
    std::string_view label;
  };
  constexpr std::array<Curve, 9> curves{{{0, "O-H, P₁"},
                                         {0, "O-H, P₂"},
                                         {0, "H-H, P₁"},
                                         {0, "H-H, P₂"},
                                         {0, "dipole, P₁"},
                                         {0, "dipole, P₂"},
                                         {1, "intermittent"},
                                         {1, "continuous"},
                                         {2, ""}}};
  std::vector<io::Plot> plots(3);
  plots[0].y_label = "orientation";
  plots[1].y_label = "hydrogen bonds";
  plots[2].y_label = "MSD (Å²)";
  for (io::Plot& plot : plots) {
    plot.title = title_of("Time correlation functions", csv.provenance());
    plot.x_label = "time (ps)";
  }
  std::vector<std::vector<io::Series>> series =
      read_curves(csv, "time_ps",
                  {"oh_p1", "oh_p2", "hh_p1", "hh_p2", "dipole_p1", "dipole_p2", "bonded_again",
                   "bonded_still", "displacement_A2"},
                  false);
  if (series[0].empty() || series[0][0].x.size() < 2) {
    return {
        {},
        {Message::warning(
            "correlation.csv has no rows and no picture: no replica covers a whole window, which "
            "is about twice [observe.correlation] length_ps and at least 17 samples")}};
  }
  for (std::size_t c = 0; c < curves.size(); ++c) {
    io::Series& curve = series[c][0];
    if (curve.x.empty()) continue;
    downsample_tail(curve);
    curve.label = curves[c].label;
    plots[curves[c].panel].series.push_back(std::move(curve));
  }
  std::erase_if(plots, [](const io::Plot& plot) { return plot.series.empty(); });
  plots.back().x_label += "     bands: standard error";
  return pictures_of(io::draw(plots, folder + "/correlation", formats));
}

}  // namespace

Observable correlation_observable() {
  return observable(&Deck::correlation, construct<CorrelationObserver>, {"correlation.*"},
                    draw_correlation, "; of the centroids");
}

}  // namespace tarn
