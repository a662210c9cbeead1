// Umbrella sampling of a quantum dimer: the water model and a spring on the O-O distance.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include <tarn/cluster_forces.hpp>
#include <tarn/core/error.hpp>
#include <tarn/deck.hpp>
#include <tarn/observe/quantity_table.hpp>
#include <tarn/potential.hpp>
#include <tarn/run.hpp>

namespace {

constexpr double kCentre_A = 3.2, kStiffness_kcal_per_mol_A2 = 50.0;

/// The vector between the oxygens. A molecule is nine numbers: O, H1, H2.
std::array<double, 3> oo_vector(const double* x) {
  return {x[9] - x[0], x[10] - x[1], x[11] - x[2]};
}

class Umbrella : public tarn::Potential {
 public:
  explicit Umbrella(const tarn::WaterModel& model) : water_(model, 2) {}

  void compute(std::span<const double> x_A, std::span<const std::int64_t> ids,
               std::span<double> energies, std::span<double> forces) override {
    water_.compute(x_A, energies, forces);
    for (std::size_t image = 0; image < ids.size(); ++image) {
      double* const f = &forces[18 * image];
      const std::array<double, 3> d = oo_vector(&x_A[18 * image]);
      const double r_A = std::hypot(d[0], d[1], d[2]), stretch_A = r_A - kCentre_A;
      energies[image] += 0.5 * kStiffness_kcal_per_mol_A2 * stretch_A * stretch_A;
      for (std::size_t k = 0; k < 3; ++k) {
        const double force = kStiffness_kcal_per_mol_A2 * stretch_A * d[k] / r_A;
        f[k] += force;
        f[9 + k] -= force;
      }
    }
  }
  std::string name() const override { return "umbrella at 3.2 A"; }

 private:
  tarn::ClusterForces water_;
};

}  // namespace

int main() try {
  const tarn::Deck deck = tarn::parse_deck(R"(
[system]
model = "qtip4pf"
molecules = 2
replicas = 16
[integrator]
timestep_fs = 0.5
[thermostat]
kind = "baoab"
temperature_K = 150.0
friction_per_ps = 5.0
[path_integral]
beads = 24
[run]
duration_ps = 0.5
equilibration_ps = 0.2
[observe.energies]
every = 20
)",
                                           "umbrella.toml");
  tarn::RunOptions options;
  options.out_dir = "umbrella";
  options.overwrite = true;
  options.pictures = false;
  options.potential = std::make_shared<Umbrella>(tarn::water_model(deck));
  options.observers.push_back(tarn::quantity_table({
      .file = "oo",
      .columns = {"centroids_oo_A"},
      .every = 20,
      .values =
          [](const tarn::Frame& frame, std::size_t r, std::span<double> values) {
            const std::array<double, 3> d = oo_vector(frame.positions_A_of(r).data());
            values[0] = std::hypot(d[0], d[1], d[2]);
          },
  }));
  for (const tarn::AveragedQuantity& a : tarn::run_deck(deck, options).averages) {
    if (a.quantity == "centroids_oo_A" || a.quantity == "potential_kcal_per_mol") {
      std::printf("%s: %.3f +- %.3f\n", a.quantity.c_str(), a.mean, a.error);
    }
  }
  return 0;
} catch (const tarn::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.code());
}
