#pragma once

#include "tarn/force_field.hpp"
#include "tarn/potential.hpp"
#include "tarn/system.hpp"
#include "testing.hpp"

namespace tarn::test {

/// The forces of a water model, image by image, and the calls that were made.
class ModelPotential final : public Potential {
 public:
  ModelPotential(WaterModel model, int molecules)
      : force_field_(model, molecules), size_(9 * static_cast<std::size_t>(molecules)) {}

  void compute(std::span<const double> x, std::span<const std::int64_t> ids,
               std::span<double> energies, std::span<double> f) override {
    ++calls;
    last_ids.assign(ids.begin(), ids.end());
    EXPECT_EQ(x.size(), ids.size() * size_);
    EXPECT_EQ(f.size(), x.size());
    EXPECT_EQ(energies.size(), ids.size());
    if (calls == throws_at) throw std::runtime_error("no convergence");
    if (calls == interrupted_at) throw PotentialInterrupted();
    for (std::size_t k = 0; k < ids.size(); ++k) {
      energies[k] =
          force_field_.energy_and_forces(x.subspan(k * size_, size_), f.subspan(k * size_, size_))
              .total_kcal_per_mol();
      if (ids[k] == bad_id && calls >= bad_from) {
        (spoils_energy ? energies[k] : f[k * size_ + (size_ > 9 ? 10 : 1)]) = bad_number;
      }
    }
  }
  std::string name() const override { return own_name; }
  std::string recipe() const override { return own_recipe; }

  int calls = 0, throws_at = -1, interrupted_at = -1, bad_from = 0;
  std::int64_t bad_id = -1;
  bool spoils_energy = false;
  std::string own_name = "model", own_recipe;
  double bad_number = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::int64_t> last_ids;

 private:
  ForceField force_field_;
  std::size_t size_;
};

inline std::shared_ptr<ModelPotential> potential_of(const System& s) {
  return std::make_shared<ModelPotential>(s.model, s.molecules);
}
}  // namespace tarn::test
