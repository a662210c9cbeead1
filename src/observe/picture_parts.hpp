#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/io/plot.hpp"
#include "tarn/observer.hpp"

/// @file
/// What pictures of a run have in common.

namespace tarn {

using Cells = std::vector<std::string_view>;

/// The time that averages leave out.
double equilibration_ps(const std::string& folder);

bool has_thermostat(const std::string& folder);

/// Of replica r: element r modulo the length; empty: no thermostat, or no record.
std::vector<double> baths_of_run(const std::string& folder);

/// "<what>: <model, molecules, replicas>" from the second part of the provenance.
std::string title_of(std::string_view what, std::string_view provenance);

/// "298.15 K"; with more digits only where they are needed.
std::string bath_text(double bath_K);

/// Leaves at most seven of the baths, from blue to dark red as they rise.
/// @return for the name of the last axis, how many of them; empty: all
std::string select_baths(std::vector<io::Series>& curves);

/// The mark of a point whose error is a lower bound, and what it means, behind the name of an axis.
const char* mark_of_lower_bound(bool converged);
inline constexpr std::string_view kLowerBoundExplained =
    "     *: a lower bound, the run is too short";

Pictures pictures_of(io::Drawing drawing);

/// What rows of a table of replicas begin with.
inline constexpr std::array<std::string_view, 3> kRowColumns{"step", "time_ps", "replica"};

/// Adds a point with its spread y +- error; none where y is not a number.
void add_known_point(double x, double y, double error, io::Series& series);

/// Leaves at most some 300 points of a curve that is smooth behind its beginning: all of the first
/// ones, and each so many-th of the others.
void downsample_tail(io::Series& series);

}  // namespace tarn
