#pragma once

#include <atomic>
#include <thread>

#include "tarn/force_field.hpp"
#include "tarn/potential.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"

/// @file
/// A flexible water model as a Potential.

namespace tarn::test {

inline WaterModel flexible() { return *find_water_model("qtip4pf"); }

/// Energies and forces of a water model, and a record of the calls.
class RecordedPotential : public Potential {
 public:
  RecordedPotential(const WaterModel& model, int molecules)
      : force_field_(model, molecules), size_(9 * static_cast<std::size_t>(molecules)) {}

  void compute(std::span<const double> x, std::span<const std::int64_t> ids,
               std::span<double> energies, std::span<double> f) override {
    EXPECT_FALSE(is_busy.exchange(true)) << "two calls at a time";
    callers.insert(std::this_thread::get_id());
    calls.emplace_back(ids.begin(), ids.end());
    EXPECT_EQ(x.size(), ids.size() * size_);
    EXPECT_EQ(f.size(), x.size());
    EXPECT_EQ(energies.size(), ids.size());
    EXPECT_EQ(std::set<std::int64_t>(ids.begin(), ids.end()).size(), ids.size());
    EXPECT_TRUE(std::ranges::all_of(f, [](double force) { return std::isnan(force); }));
    EXPECT_TRUE(std::ranges::all_of(energies, [](double energy) { return std::isnan(energy); }));
    for (std::size_t k = 0; k < ids.size(); ++k) {
      energies[k] =
          force_field_.energy_and_forces(x.subspan(k * size_, size_), f.subspan(k * size_, size_))
              .total_kcal_per_mol();
    }
    is_busy = false;
    if (change) change(ids, energies, f);
  }
  std::string name() const override { return "model"; }

  std::size_t images() const {
    std::size_t sum = 0;
    for (const auto& call : calls) sum += call.size();
    return sum;
  }

  std::vector<std::vector<std::int64_t>> calls;  ///< image ids
  std::set<std::thread::id> callers;
  std::atomic<bool> is_busy = false;
  /// Changes the results of a call, or throws.
  std::function<void(std::span<const std::int64_t> ids, std::span<double>, std::span<double>)>
      change;

 private:
  ForceField force_field_;
  std::size_t size_;
};

inline std::shared_ptr<RecordedPotential> potential_of(int molecules) {
  return std::make_shared<RecordedPotential>(flexible(), molecules);
}
/// Adds errors to the energies [kcal/mol] and force components [kcal/mol/A], uniform up to
/// `largest`.
inline void add_noise(RecordedPotential& potential, double largest) {
  potential.change = [random = std::mt19937(1),
                      error = std::uniform_real_distribution<double>(-largest, largest)](
                         auto, auto energies, auto forces) mutable {
    for (double& e : energies) e += error(random);
    for (double& f : forces) f += error(random);
  };
}

/// Random clusters, [cluster][molecule][9].
inline std::vector<double> clusters(int molecules, int count, int first = 0) {
  std::vector<double> all;
  for (int k = first; k < first + count; ++k) {
    const std::vector<double> one = random_cluster(flexible(), molecules, 1, k);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

}  // namespace tarn::test
