#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/observer.hpp"

/// @file
/// Helpers shared by the pictures of a run.

namespace tarn {

using Cells = std::vector<std::string_view>;

/// Value of a deck key in run.json, as written there; empty without run.json.
std::string deck_value(const std::string& folder, std::string_view section, std::string_view key);

/// Equilibration time of the run, which averages exclude.
double equilibration_ps(const std::string& folder);

bool has_thermostat(const std::string& folder);

/// Bath temperatures: replica r has element r modulo the length; empty without thermostat or
/// run.json.
std::vector<double> baths_of_run(const std::string& folder);

/// "<what>: <model, molecules, replicas>" from the second part of the provenance.
std::string title_of(std::string_view what, std::string_view provenance);

/// "298.15 K", with as many digits as needed.
std::string bath_text(double bath_K);

/// Selects at most seven baths and colours them from blue to dark red with rising temperature.
/// @return text for the last axis label with the number selected; empty if all are
std::string select_baths(std::vector<io::Series>& curves);

/// Mark of a point whose error is a lower bound, and its explanation for an axis label.
const char* mark_of_lower_bound(bool converged);
inline constexpr std::string_view kLowerBoundExplained = "     *: lower bound (run too short)";

Pictures pictures_of(io::Drawing drawing);

/// First columns of a table of replicas.
inline constexpr std::array<std::string_view, 3> kRowColumns{"step", "time_ps", "replica"};

/// Curves of a table with bands of one standard error, without values that are nan:
/// [column][group], labelled by the cells of the column `group` (temperatures if it is bath_K), or
/// one per column in a table without groups. Without rows there are none.
/// @param columns with a column `<column>_err` of the standard error each
/// @param positive whether bands end at 0
std::vector<std::vector<io::Series>> read_curves(io::CsvReader& csv, std::string_view x,
                                                 const std::vector<std::string>& columns,
                                                 bool positive, std::string_view group = "bath_K");

/// Upper end of the bands of a plot, at least 0.
double highest_of(const io::Plot& plot);
/// Distance up to which the curves visibly differ from 0.
double visible_range_A(const std::vector<io::Plot>& plots);

/// Adds a point with the band y +- error; skips nan.
void add_known_point(double x, double y, double error, io::Series& series);

/// Reduces a curve with a smooth tail to about 300 points: keeps the first points and samples the
/// tail at a constant stride.
void downsample_tail(io::Series& series);

}  // namespace tarn
