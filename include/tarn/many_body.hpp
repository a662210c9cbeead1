#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/physics/water_model.hpp"
#include "tarn/potential.hpp"

/// @file
/// Many-body models of water clusters: MB-pol (flexible) and Dang-Chang 1997 (rigid, polarisable).

namespace tarn {

/// Results of ManyBody::compute(). Members may be empty; they are then left out.
struct ManyBodyResults {
  std::span<double> energies_kcal_per_mol;  ///< [image]
  std::span<double> terms_kcal_per_mol;     ///< [image][term], see ManyBody::terms()
  std::span<double> forces_kcal_per_mol_A;  ///< [image][molecule][O, H1, H2][x, y, z]
  std::span<double> dipoles_eA;             ///< [image][x, y, z]
  std::span<ImageFailure> failures;         ///< [image]
};

/// Energies and exact gradients of many clusters of the same size. The results of an image have the
/// same bits in any batch and with any number of threads. An object must not be used by several
/// threads at once.
class ManyBody {
 public:
  /// @param mixed whether the products of trimers are computed in float
  /// @param threads 0: default_threads()
  /// @param instruction_set empty: the best one
  /// @param field_kcal_per_mol_e_A a uniform field, see WaterModel
  /// @throws InputError for ManyBodyModel::none, or an unknown instruction set
  explicit ManyBody(ManyBodyModel model, bool mixed = false, int threads = 0,
                    std::string_view instruction_set = {},
                    const std::array<double, 3>& field_kcal_per_mol_e_A = {});
  ~ManyBody();

  /// one_body, two_body, three_body, dispersion, charges, induction; coulomb, lj, induction. With a
  /// field `field` follows, the energy of the whole dipole moment.
  const std::vector<std::string>& terms() const;
  /// An image with a failure has an energy of NaN.
  /// @param positions_A [image][molecule][O, H1, H2][x, y, z]
  void compute(int molecules, std::span<const double> positions_A, const ManyBodyResults& results);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

/// Dipole moment of one cluster [e A]. @param positions_A 9 N
std::array<double, 3> many_body_dipole_e_A(const WaterModel& model,
                                           std::span<const double> positions_A);

/// The same as a Potential, with all PotentialDetails. Engines and other functions that take a
/// WaterModel make it themselves.
std::shared_ptr<Potential> many_body_potential(
    ManyBodyModel model, bool mixed = false, int threads = 0, std::string_view instruction_set = {},
    const std::array<double, 3>& field_kcal_per_mol_e_A = {});

}  // namespace tarn
