#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "observable.hpp"
#include "picture_parts.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"

/// @file
/// Pictures of tables with rows `step,time_ps,replica,...` against time.

namespace tarn {

/// Values of one table row for the panels, with errors.
struct RowValues {
  explicit RowValues(std::vector<double> values) : value(std::move(values)), error(value.size()) {}
  std::vector<double> value, error;
};

using ValuesOfRow = std::function<RowValues(const Cells&)>;

/// The meaning of the bands of tables of replicas.
inline constexpr std::string_view kExtremes = "minimum to maximum";

/// One panel per quantity, with one curve per bath if there are several.
/// @param title what the picture shows, without the system
/// @param band meaning of the bands
/// @return empty for means over several temperatures
std::vector<io::Plot> time_panels(io::CsvReader& csv, const std::string& folder,
                                  const std::string& title, const std::vector<TimePanel>& panels,
                                  const ValuesOfRow& values_of, std::string_view band = kExtremes);

/// Draws `<folder>/<name>`, or explains why there are no panels.
Pictures draw_panels(const std::string& folder, const std::string& name,
                     const std::vector<io::Plot>& plots, const io::PictureFormats& formats);

}  // namespace tarn
