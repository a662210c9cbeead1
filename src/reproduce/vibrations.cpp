#include "vibrations.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "tarn/core/units.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {

double Spectrum::modes() const {
  return spacing() * (std::accumulate(states.begin(), states.end(), 0.0) - 0.5 * states.front());
}

double Spectrum::leapfrog_shift_per_cm(double timestep_fs) const {
  const double per_cm = 2.0 * units::pi * units::speed_of_light_cm_per_fs * timestep_fs;
  return per_cm * per_cm / 24.0 * libration_moment(3);
}

double Spectrum::libration_moment(int power) const {
  double sum = 0.0, weights = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (x[k] < kLibrations_per_cm) continue;
    sum += std::pow(x[k], power) * states[k];
    weights += states[k];
  }
  return sum / weights;
}

Spectrum read_spectrum(const std::string& path, double end_per_cm) {
  Spectrum s;
  io::CsvReader csv(path);
  const std::size_t states = csv.column("states_cm");
  const std::size_t absorption = csv.column("absorption_km_cm_per_mol");
  for (std::vector<std::string_view> cells; csv.next(cells);) {
    const double x = csv.number(cells[0]);
    if (x > end_per_cm) break;
    s.x.push_back(x);
    s.states.push_back(csv.number(cells[states]));
    s.absorption.push_back(csv.number(cells[absorption]));
  }
  return s;
}

Spectrum mean_of(const std::vector<Spectrum>& batches, std::size_t first, std::size_t n) {
  Spectrum mean = batches[first];
  for (std::size_t b = first + 1; b < first + n; ++b) {
    for (std::size_t k = 0; k < mean.x.size(); ++k) {
      mean.states[k] += batches[b].states[k];
      mean.absorption[k] += batches[b].absorption[k];
    }
  }
  for (double& g : mean.states) g /= static_cast<double>(n);
  for (double& a : mean.absorption) a /= static_cast<double>(n);
  return mean;
}

Spectrum mean_of(const std::vector<Spectrum>& batches) {
  return mean_of(batches, 0, batches.size());
}

double states_at(const Spectrum& s, double x_per_cm) {
  const double at = x_per_cm / s.spacing();
  const auto below = std::min(static_cast<std::size_t>(at), s.x.size() - 2);
  const double share = at - static_cast<double>(below);
  return (1.0 - share) * s.states[below] + share * s.states[below + 1];
}

double difference(const Spectrum& own, const Spectrum& reference) {
  double sum = 0.0;
  for (std::size_t k = 0; k < reference.x.size(); ++k) {
    const double g = states_at(own, reference.x[k]);
    sum += (k == 0 ? 0.5 : 1.0) * std::abs(g - reference.states[k]);
  }
  return 0.5 * sum * reference.spacing() / reference.modes();
}

SpectrumDeviation deviation_of(const std::vector<Spectrum>& batches,
                               const std::vector<Spectrum>& reference) {
  std::vector<double> modes, librations, differences, truth;
  const Spectrum mean = mean_of(reference);
  for (const Spectrum& s : batches) {
    modes.push_back(s.modes());
    librations.push_back(s.mean_libration_per_cm());
    differences.push_back(difference(s, mean));
  }
  for (const Spectrum& s : reference) truth.push_back(s.mean_libration_per_cm());
  const analysis::MeanError own = analysis::mean_and_error(librations);
  const analysis::MeanError right = analysis::mean_and_error(truth);
  // A single batch is noisier than the mean of all: only the spread of the batches is used.
  return {analysis::mean_and_error(modes),
          {own.mean - right.mean, std::hypot(own.error, right.error)},
          {difference(mean_of(batches), mean), analysis::mean_and_error(differences).error}};
}

double noise_of(const std::vector<Spectrum>& batches) {
  const std::size_t half = batches.size() / 2;
  return difference(mean_of(batches, 0, half), mean_of(batches, half, half));
}

}  // namespace tarn
