#include "tarn/modes.hpp"

#include <Eigen/Dense>

#include "dual.hpp"
#include "modes/mode_coordinates.hpp"
#include "modes_numbers.hpp"
#include "physics/pair_force.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/force_field.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/minimise.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"
#include "worst.hpp"

namespace tarn {
namespace {

using namespace test;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using modes::ModeCoordinates;

constexpr double kRigid = std::numeric_limits<double>::infinity();

WaterModel model_of(const char* name) { return *find_water_model(name); }

/// A minimum near a random cluster, to where rounding lets it be followed.
std::vector<double> minimum(const WaterModel& model, int molecules, double omega,
                            std::int64_t replica = 0) {
  std::vector<double> x = random_cluster(model, molecules, 1, replica);
  ForceField force_field(model, molecules);
  MinimiseOptions options;
  options.tolerance_kcal_per_mol_A = 1e-8;
  EXPECT_TRUE(quench(force_field, x, options).converged);
  if (std::isinf(omega)) return x;
  options.tolerance_kcal_per_mol_A += 1e-13 * omega * omega;
  EXPECT_TRUE(relax_penalised(force_field, omega, x, options).converged);
  return x;
}

/// Bent and stretched by up to 0.03 A.
std::vector<double> distorted(std::vector<double> x) {
  Random random(7);
  for (double& c : x) c += random.uniform(-0.03, 0.03);
  return x;
}

double sum_of(const NormalModes& modes, double NormalMode::*what) {
  return std::accumulate(modes.modes.begin(), modes.modes.end(), 0.0,
                         [&](double sum, const NormalMode& m) { return sum + m.*what; });
}

/// Masses of the 9 N coordinates.
VectorXd mass_of_coordinates(const WaterModel& model, std::size_t size) {
  VectorXd m(static_cast<Index>(size));
  for (Index c = 0; c < m.size(); ++c) m[c] = model.mass_Da(static_cast<int>(c % 9 / 3));
  return m;
}

// --- second derivatives -------------------------------------------------------------------------

/// Two directions at a time: one derivative by each, and the second by both.
using D1 = Dual<double, 1>;
using D2 = Dual<D1, 1>;
using Numbers = std::vector<D2>;

Vec3<D2> constant(const Vec3<double>& v) { return {D2(v.x), D2(v.y), D2(v.z)}; }

/// V0 of the formulas of energies.
template <bool kMSite>
D2 energy_of_sites(const WaterModel& model, const std::vector<Triple<D2>>& x) {
  const PairParameters<double> p = pair_parameters<double>(model);
  D2 coulomb(0.0), lj(0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i + 1; j < x.size(); ++j) {
      add_pair_energy<kMSite>(p, x[i].o - x[j].o, site_offsets<kMSite>(x[i], D2(p.m_weight)),
                              site_offsets<kMSite>(x[j], D2(p.m_weight)), AllLanes{}, coulomb, lj);
    }
  }
  return coulomb + lj;
}
D2 energy(const WaterModel& model, const std::vector<Triple<D2>>& x) {
  return model.has_m_site() ? energy_of_sites<true>(model, x) : energy_of_sites<false>(model, x);
}
struct Derivatives {
  double value = 0.0;
  VectorXd first;
  MatrixXd second;
};
Derivatives derivatives(const VectorXd& at, const std::function<D2(const Numbers&)>& energy) {
  const Index n = at.size();
  Derivatives result{0.0, VectorXd(n), MatrixXd(n, n)};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      Numbers numbers;
      for (Index k = 0; k < n; ++k) {
        D2& number = numbers.emplace_back(k == i ? D1::variable(at[k], 0) : D1(at[k]));
        number.d[0] = D1(k == j ? 1.0 : 0.0);
      }
      const D2 e = energy(numbers);
      result.value = e.value.value;
      result.first[j] = e.d[0].value;
      result.second(i, j) = e.d[0].d[0];
    }
  }
  return result;
}

/// Compares Hessians, the exact one in the coordinates of the dual numbers, whose derivatives by
/// those of the modes follow from what both do to the atoms.
/// @return the exact one in the coordinates of the modes
MatrixXd expect_hessian(const ModeCoordinates& coordinates, const MatrixXd& found,
                        const MatrixXd& exact, const MatrixXd& atoms) {
  MatrixXd change(atoms.cols(), coordinates.size());
  const auto solver = atoms.colPivHouseholderQr();
  for (Index i = 0; i < change.cols(); ++i) {
    const VectorXd dx = coordinates.displacements(VectorXd::Unit(coordinates.size(), i));
    change.col(i) = solver.solve(dx);
    EXPECT_LT((atoms * change.col(i) - dx).norm(), few_roundings(5.0)) << i;
  }
  const MatrixXd expected = change.transpose() * exact * change;
  // Some hundred terms a number, of some ten roundings each; relative to the largest number.
  EXPECT_LT((found - expected).cwiseAbs().maxCoeff(),
            1000.0 * kEpsilon * expected.cwiseAbs().maxCoeff());
  return expected;
}
/// Forces of the model without a penalty.
std::vector<double> forces_of(const WaterModel& model, const std::vector<double>& x) {
  std::vector<double> forces(x.size());
  ForceField(model, static_cast<int>(x.size() / 9)).energy_and_forces(x, forces);
  return forces;
}

/// Molecules turn by Cayley's rotation, exp([w]) up to the third order in w, about the centre of
/// mass: what is second order in w is that of the formula for the curvature.
TEST(ModeHessian, IsThatOfTheEnergyOfRigidMoleculesAwayFromMinima) {
  for (const char* name : {"tip3p", "tip4p", "opc"}) {
    SCOPED_TRACE(name);
    const WaterModel model = model_of(name);
    const std::vector<double> x = random_cluster(model, 3, 1, 0);
    const double fraction_h = model.mass_h_Da / model.molecule_mass_Da();
    const auto centre_of = [&](const Triple<double>& a) {
      return a.o + fraction_h * ((a.h1 - a.o) + (a.h2 - a.o));
    };
    const Derivatives expected_tw = derivatives(VectorXd::Zero(18), [&](const Numbers& v) {
      std::vector<Triple<D2>> moved;
      for (std::size_t m = 0; m < 3; ++m) {
        const Triple<double> a = molecule(x, m);
        const Vec3<double> centre = centre_of(a);
        const D2* of_m = &v[6 * m];
        const Vec3<D2> t{of_m[0], of_m[1], of_m[2]};
        const Vec3<D2> half = D2(0.5) * Vec3<D2>{of_m[3], of_m[4], of_m[5]};
        const D2 two_over = D2(2.0) / (D2(1.0) + norm2(half));
        const auto place = [&](const Vec3<double>& atom) {
          const Vec3<D2> d = constant(atom - centre), turned = cross(half, d);
          return constant(centre) + (t + (d + two_over * (turned + cross(half, turned))));
        };
        moved.push_back({place(a.o), place(a.h1), place(a.h2)});
      }
      return energy(model, moved);
    });
    MatrixXd atoms = MatrixXd::Zero(27, 18);
    for (Index m = 0; m < 3; ++m) {
      const Triple<double> a = molecule(x, static_cast<std::size_t>(m));
      const Vec3<double> centre = centre_of(a);
      const Vec3<double> arms[3] = {a.o - centre, a.h1 - centre, a.h2 - centre};
      for (Index s = 0; s < 3; ++s) {
        const Vector3d d(arms[s].x, arms[s].y, arms[s].z);
        atoms.block<3, 3>(9 * m + 3 * s, 6 * m).setIdentity();
        for (Index c = 0; c < 3; ++c) {
          atoms.block<3, 1>(9 * m + 3 * s, 6 * m + 3 + c) = Vector3d::Unit(c).cross(d);
        }
      }
    }
    const std::vector<double> forces = forces_of(model, x);
    const ModeCoordinates coordinates(model, model, x, true);
    const MatrixXd expected =
        expect_hessian(coordinates, coordinates.hessian(0.0, forces), expected_tw.second, atoms);
    // The curvature is a part that is seen: torques are far from zero here.
    const std::vector<double> none(x.size(), 0.0);
    EXPECT_GT((coordinates.hessian(0.0, none) - expected).cwiseAbs().maxCoeff(), 0.01);
    // The gradient.
    const double largest = expected_tw.first.lpNorm<Eigen::Infinity>();
    EXPECT_NEAR(coordinates.max_gradient(forces), largest, 1e-12 * largest);
  }
}

TEST(ModeHessian, IsThatOfTheEnergyOfPenalisedMoleculesAwayFromMinima) {
  for (const char* name : {"tip3p", "tip4p2005"}) {
    for (const double omega : {20.0, 500.0}) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(omega));
      const WaterModel model = model_of(name);
      const std::vector<double> x = distorted(random_cluster(model, 2, 1, 0));
      const Eigen::Map<const VectorXd> at(x.data(), 18);
      const Derivatives exact = derivatives(at, [&](const Numbers& v) {
        std::vector<Triple<D2>> moved;
        for (std::size_t m = 0; m < 2; ++m) {
          const D2* a = &v[9 * m];
          moved.push_back({{a[0], a[1], a[2]}, {a[3], a[4], a[5]}, {a[6], a[7], a[8]}});
        }
        D2 e = energy(model, moved);
        for (const Triple<D2>& m : moved) e = e + penalty_energy(m, bond_reference(model), omega);
        return e;
      });
      const ModeCoordinates coordinates(model, model, x, false);
      expect_hessian(coordinates, coordinates.hessian(omega, forces_of(model, x)), exact.second,
                     MatrixXd::Identity(18, 18));
      const NormalModes modes = normal_modes(model, x, omega);
      const double largest = exact.first.lpNorm<Eigen::Infinity>();
      EXPECT_NEAR(modes.max_gradient_kcal_per_mol_A, largest, 1e-12 * largest);
      EXPECT_NEAR(modes.energy_kcal_per_mol, exact.value, 1e-11 * std::abs(exact.value));
      EXPECT_FALSE(modes.is_stationary());
    }
  }
}

/// The energy does not change when all molecules move, and its gradient turns with them: away from
/// minima K z is zero for a shift, and for a turn about u it is u x g of each atom.
TEST(ModeHessian, IsInvariantToRigidBodyMotion) {
  for (const char* name : {"spce", "tip4p"}) {
    const WaterModel model = model_of(name);
    const double omega = 50.0;
    const std::vector<double> x = distorted(random_cluster(model, 4, 2, 0));
    std::vector<double> f = forces_of(model, x);
    const ModeCoordinates coordinates(model, model, x, false);
    const MatrixXd hessian = coordinates.hessian(omega, f);
    const MatrixXd whole = coordinates.rigid_body_motions();
    const double size = hessian.cwiseAbs().maxCoeff();
    EXPECT_LT((whole.transpose() * whole - MatrixXd::Identity(6, 6)).norm(), few_roundings(6.0));
    EXPECT_LT((hessian * whole.leftCols(3)).cwiseAbs().maxCoeff(), 1e-13 * size);
    for (std::size_t m = 0; m < 4; ++m) {
      const auto bond = to_array(penalty_force(molecule(x, m), bond_reference(model), omega));
      for (std::size_t c = 0; c < 9; ++c) f[9 * m + c] += bond[c];
    }
    MatrixXd change(36, 36);  // dx/dy
    for (Index i = 0; i < 36; ++i) {
      change.col(i) = coordinates.displacements(VectorXd::Unit(36, i));
    }
    for (Index axis = 0; axis < 3; ++axis) {
      VectorXd dx(36), turned(36);  // u x r and u x g, g = -f, of which K y is dx/dy^T
      for (Index a = 0; a < 36; a += 3) {
        const Vector3d u = Vector3d::Unit(axis);
        dx.segment<3>(a) = u.cross(Vector3d(&x[static_cast<std::size_t>(a)]));
        turned.segment<3>(a) = -u.cross(Vector3d(&f[static_cast<std::size_t>(a)]));
      }
      const VectorXd y = change.colPivHouseholderQr().solve(dx);
      const VectorXd expected = change.transpose() * turned;
      EXPECT_LT((hessian * y - expected).cwiseAbs().maxCoeff(), 1e-13 * size * y.norm());
      EXPECT_GT(expected.norm(), 0.1);
    }
  }
}

// --- closed forms -------------------------------------------------------------------------------

/// One molecule: omega^2 J M^-1 J^T of a triangle that is as wide as it is symmetric has one
/// antisymmetric root and a symmetric pair.
TEST(Modes, OfOneMoleculeAreItsBonds) {
  for_models([](const WaterModel& model) {
    const std::vector<double> x = random_cluster(model, 1, 3, 0);
    EXPECT_EQ(wavenumbers(normal_modes(model, x)), std::vector<double>(6, 0.0));
    for (const double omega : {1.0, 100.0}) {
      const double r2 = model.r_oh_A * model.r_oh_A;
      const double cosine = std::cos(model.angle_hoh_degrees * units::pi / 180.0);
      const double by_o = 4.0 * r2 / model.mass_o_Da, by_h = 4.0 * r2 / model.mass_h_Da;
      const double antisymmetric = by_h + (1.0 - cosine) * by_o;
      Eigen::Matrix2d symmetric;
      const double coupling = std::sqrt(2.0) * (1.0 - cosine) * by_h;
      symmetric << by_h + (1.0 + cosine) * by_o, coupling, coupling, 4.0 * (1.0 - cosine) * by_h;
      const VectorX pair = eigenvalues(symmetric.cast<Real>());
      std::vector<double> expected{double(pair[0]), antisymmetric, double(pair[1])};
      std::sort(expected.begin(), expected.end());
      const NormalModes modes = normal_modes(model, x, omega);
      ASSERT_EQ(modes.modes.size(), 9u);
      double sum_per_cm = 0.0;
      for (std::size_t k = 0; k < 3; ++k) {
        const double per_cm = units::wavenumber_per_cm(omega * std::sqrt(expected[k]));
        // Lengths of 1 A within coordinates of 1 A: some ten roundings.
        EXPECT_NEAR(modes.modes[6 + k].wavenumber_per_cm, per_cm, 1e-14 * 20.0 * per_cm);
        EXPECT_NEAR(modes.modes[6 + k].vibration, 1.0, 1e-14);
        sum_per_cm += per_cm;
      }
      // 1/cm is 2.859143 10^-3 kcal/mol (CODATA 2018: 1.986445857e-23 J).
      EXPECT_NEAR(modes.zero_point_energy_kcal_per_mol(), 0.5 * 2.859143e-3 * sum_per_cm,
                  1e-6 * sum_per_cm * 2.859143e-3);
      EXPECT_EQ(modes.imaginary_count(), 0);
      EXPECT_EQ(modes.lowest_per_cm(), modes.modes[6].wavenumber_per_cm);
    }
  });
}

/// Coulomb's law has no Laplacian, also where a force is spread from M, so that trace(M^-1 H) is
/// that of oxygens and bonds: 132 A/r^14 - 30 C/r^8, and omega^2 (4 r^2 + 6 g) at each end.
TEST(Modes, SumUpToTheLaplacian) {
  for_models([](const WaterModel& model) {
    const double omega = 60.0;
    const std::vector<double> x = minimum(model, 5, omega);
    double expected = 0.0;
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t j = i + 1; j < 5; ++j) {
        const double s = 1.0 / norm2(molecule(x, i).o - molecule(x, j).o);
        const double s4 = s * s * s * s;
        expected += 2.0 / model.mass_o_Da *
                    (132.0 * model.lj_a_kcal_A12_per_mol * s4 * s * s * s -
                     30.0 * model.lj_c_kcal_A6_per_mol * s4);
      }
      const BondValues<double> length2 = bonds(molecule(x, i)).length2;
      const BondReference<double> r = bond_reference(model);
      const auto of_bond = [&](double l2, double r2) { return 4.0 * l2 + 6.0 * (l2 - r2); };
      expected += omega * omega *
                  ((1.0 / model.mass_o_Da + 1.0 / model.mass_h_Da) *
                       (of_bond(length2.oh1, r.oh2) + of_bond(length2.oh2, r.oh2)) +
                   2.0 / model.mass_h_Da * of_bond(length2.hh, r.hh2));
    }
    double sum = 0.0;
    for (const double per_cm : wavenumbers(normal_modes(model, x, omega)))
      sum += eigenvalue(per_cm);
    // 45 eigenvalues to some roundings of the largest of them; what is left of a gradient of 1e-8
    // in the six that were taken out is less.
    EXPECT_NEAR(sum, expected, 1e-13 * expected);
  });
}

/// The sum over all modes is that over all coordinates, and does not depend on the energy: charges
/// -2c and c over their masses; rigid molecules of dipole mu turn about two axes across it.
TEST(Modes, IntensitiesSatisfyTheSumRule) {
  constexpr double kDebye2 = units::debye_per_e_A * units::debye_per_e_A;
  for_models([&](const WaterModel& model) {
    const std::vector<double> x = random_cluster(model, 3, 4, 0);
    const double c = model.dipole_charge_e();
    const double free = 9.0 * c * c * (4.0 / model.mass_o_Da + 2.0 / model.mass_h_Da);
    EXPECT_NEAR(sum_of(normal_modes(model, x, 40.0), &NormalMode::ir_intensity_D2_per_A2_Da),
                kDebye2 * free, 1e-12 * kDebye2 * free);
    const auto [height, half, zero] = molecule_at_origin(model).h1;
    // About the axis through both hydrogens' direction, and about that across the plane.
    const double reduced = 2.0 * model.mass_h_Da * model.mass_o_Da / model.molecule_mass_Da();
    const double across = reduced * height * height;
    const double normal = across + 2.0 * model.mass_h_Da * half * half;
    const double mu2 = 4.0 * c * c * height * height;
    const double rigid = 3.0 * mu2 * (1.0 / across + 1.0 / normal);
    const NormalModes modes = normal_modes(model, x);
    EXPECT_NEAR(sum_of(modes, &NormalMode::ir_intensity_D2_per_A2_Da), kDebye2 * rigid,
                1e-12 * kDebye2 * rigid);
    // 42.2561 km/mol for 1 D/A and 1 Da (Neugebauer et al. 2002), to the Coulomb constant's 1e-6.
    EXPECT_NEAR(modes.modes.back().ir_intensity_km_per_mol(),
                42.2561 * modes.modes.back().ir_intensity_D2_per_A2_Da,
                2e-6 * modes.modes.back().ir_intensity_km_per_mol());
  });
}

// --- another program ----------------------------------------------------------------------------

/// What tests/regression/modes_numbers.py prints, to five decimals: other code, units from CODATA
/// and the six motions of the whole not taken out.
struct OfAnotherProgram {
  std::vector<double> per_cm, km_per_mol;
  double zero_point_energy_kcal_per_mol;
};
void expect_modes(const NormalModes& modes, const OfAnotherProgram& expected) {
  EXPECT_TRUE(modes.is_stationary());
  std::vector<NormalMode> vibrations;
  for (const NormalMode& m : modes.modes) {
    if (m.wavenumber_per_cm != 0.0) vibrations.push_back(m);
  }
  ASSERT_EQ(vibrations.size(), expected.per_cm.size());
  for (std::size_t k = 0; k < vibrations.size(); ++k) {
    // Constants differ by 6e-8 and 8e-8, 5e-5 of the largest. Dimers on file are quenched to 1e-6
    // kcal/mol/A: the whole turns with up to 0.03 1/cm there, which mixes with a mode of 58 1/cm to
    // 3e-7 of squares and 5e-4 of amplitudes: 1e-5 of wavenumbers.
    EXPECT_NEAR(vibrations[k].wavenumber_per_cm, expected.per_cm[k], 1e-4) << k;
    EXPECT_NEAR(vibrations[k].ir_intensity_km_per_mol(), expected.km_per_mol[k], 2e-4) << k;
  }
  EXPECT_NEAR(modes.zero_point_energy_kcal_per_mol(), expected.zero_point_energy_kcal_per_mol,
              kSixDecimals);
}

TEST(Modes, MatchAnotherProgram) {
  const auto on_file = [](const char* model) {
    const std::string path =
        std::string(TARN_SOURCE_DIR) + "/tests/data/minima/" + model + "-2.xyz";
    return normal_modes(model_of(model), io::read_structure(path).positions_A);
  };
  expect_modes(on_file("tip3p"), {{57.77259, 162.58499, 191.25969, 227.76319, 416.88241, 660.17920},
                                  {30.86561, 150.01754, 263.23544, 22.24003, 216.00637, 300.13005},
                                  2.453777});
  expect_modes(on_file("tip4p"),
               {{110.66002, 135.02223, 147.08635, 235.72182, 441.97078, 683.78579},
                {102.40797, 282.02191, 100.10966, 45.87247, 106.82608, 231.22750},
                2.507822});
  // Both dipole moments on one line: a saddle point, with two modes that carry no intensity.
  const WaterModel model = model_of("tip3p");
  const auto [height, half, zero] = molecule_at_origin(model).h1;
  std::vector<double> x;
  for (const double z : {0.0, 2.937858695}) {
    const std::vector<double> molecule{0.0, 0.0, z, half, 0.0, z + height, -half, 0.0, z + height};
    x.insert(x.end(), molecule.begin(), molecule.end());
  }
  const NormalModes saddle = normal_modes(model, x);
  EXPECT_EQ(saddle.imaginary_count(), 2);
  EXPECT_EQ(saddle.lowest_per_cm(), saddle.modes[0].wavenumber_per_cm);
  expect_modes(saddle, {{-272.31172, -125.92037, 149.73020, 167.21164, 192.38655, 456.90119},
                        {143.70664, 0.0, 0.0, 142.93407, 107.88934, 602.74270},
                        1.381295});
}

// --- what modes are -----------------------------------------------------------------------------

/// Displacements are orthonormal with the masses, and complete: a molecule has three shares each.
TEST(Modes, AreOrthonormalAndComplete) {
  for (const double omega : {kRigid, 100.0}) {
    const WaterModel model = model_of("tip4pew");
    const int n = 4;
    const std::vector<double> x = distorted(random_cluster(model, n, 5, 0));
    const NormalModes modes = normal_modes(model, x, omega);
    const auto count = static_cast<Index>(modes.modes.size());
    ASSERT_EQ(count, (std::isinf(omega) ? 6 : 9) * n);
    const Eigen::Map<const MatrixXd> dx(modes.displacements_per_sqrt_Da.data(), 9 * n, count);
    const MatrixXd overlap =
        dx.transpose() * mass_of_coordinates(model, x.size()).asDiagonal() * dx;
    // Eigenvectors are orthogonal to some roundings of each of 36 components.
    const double orthonormal = 4 * 36 * kEpsilon;
    EXPECT_LT((overlap - MatrixXd::Identity(count, count)).cwiseAbs().maxCoeff(), orthonormal);
    for (const NormalMode& m : modes.modes) {
      EXPECT_NEAR(m.translation + m.rotation + m.vibration, 1.0, orthonormal);
      EXPECT_GE(std::min({m.translation, m.rotation, m.vibration}), 0.0);
    }
    EXPECT_NEAR(sum_of(modes, &NormalMode::translation), 3.0 * n, 36 * orthonormal);
    EXPECT_NEAR(sum_of(modes, &NormalMode::rotation), 3.0 * n, 36 * orthonormal);
    EXPECT_NEAR(sum_of(modes, &NormalMode::vibration), std::isinf(omega) ? 0.0 : 3.0 * n,
                36 * orthonormal);
    EXPECT_TRUE(std::ranges::is_sorted(modes.modes, {}, &NormalMode::wavenumber_per_cm));
  }
}

/// Turned, moved, with molecules and hydrogens in another order: the same wavenumbers and
/// intensities.
TEST(Modes, DoNotDependOnPlaceAndOrder) {
  for (const double omega : {kRigid, 50.0}) {
    const WaterModel model = model_of("tip4p");
    const std::vector<double> x = minimum(model, 5, omega);
    Random random(3);
    const RigidMotion motion = RigidMotion::random(random, 5.0);
    std::vector<double> y;
    for (std::size_t m = 5; m-- > 0;) {
      const auto a = to_array(motion(exchange_hydrogens(molecule(x, m))));
      y.insert(y.end(), a.begin(), a.end());
    }
    const NormalModes old = normal_modes(model, x, omega), turned = normal_modes(model, y, omega);
    for (std::size_t k = 0; k < old.modes.size(); ++k) {
      const NormalMode &a = old.modes[k], &b = turned.modes[k];
      // 45 roundings of the largest eigenvalue, 5e4, are 3e-10: 1e-7 of a mode at 20 1/cm.
      EXPECT_NEAR(b.wavenumber_per_cm, a.wavenumber_per_cm, 1e-7) << k;
      EXPECT_NEAR(b.ir_intensity_D2_per_A2_Da, a.ir_intensity_D2_per_A2_Da, 1e-7) << k;
      EXPECT_NEAR(b.rotation, a.rotation, 1e-7) << k;
    }
  }
}

/// A penalty that gives way moves the soft modes by 1/omega^2 of what it does at omega = 1.
TEST(Modes, OfAStrongPenaltyEqualRigidModes) {
  for (const char* name : {"tip3p", "tip4p"}) {
    const WaterModel model = model_of(name);
    const std::vector<double> rigid = wavenumbers(normal_modes(model, minimum(model, 3, kRigid)));
    const auto shift = [&](double omega) -> VectorXd {
      const auto all = wavenumbers(normal_modes(model, minimum(model, 3, omega), omega));
      const auto n = static_cast<Index>(rigid.size());
      return VectorXd::Map(all.data(), n) - VectorXd::Map(rigid.data(), n);
    };
    const VectorXd weak = shift(100.0), strong = shift(200.0);
    EXPECT_GT(weak.norm(), 1.0);
    // The next order: at omega = 20 librations are 5 % further up than 1/omega^2 says, which is 0.2
    // % at 100.
    EXPECT_NEAR(weak.norm() / strong.norm(), 4.0, 0.04);
    EXPECT_LT((weak - 4.0 * strong).lpNorm<Eigen::Infinity>(), 0.01 * weak.norm());
  }
}

/// Small oscillations along a mode by the engine: a step turns them by theta, sin(theta/2) =
/// h Omega/2, with SETTLE as with velocity Verlet.
void expect_oscillations(const WaterModel& model, int molecules, double omega, double timestep_fs,
                         const std::vector<std::size_t>& which) {
  constexpr double kLargest_A = 2e-5;
  constexpr int kSteps = 300;
  const std::vector<double> x = minimum(model, molecules, omega);
  const NormalModes modes = normal_modes(model, x, omega);
  System system;
  system.model = model;
  system.molecules = molecules;
  system.integrator.scheme = std::isinf(omega) ? Scheme::settle : Scheme::verlet;
  system.integrator.omega = omega;
  system.integrator.timestep_akma = units::akma_from_fs(timestep_fs);
  State start;
  start.molecules = molecules;
  std::vector<double> amplitudes;
  for (const std::size_t k : which) {
    const double* dx = &modes.displacements_per_sqrt_Da[k * x.size()];
    double largest = 0.0;
    for (std::size_t c = 0; c < x.size(); ++c) largest = std::max(largest, std::abs(dx[c]));
    amplitudes.push_back(kLargest_A / largest);
    for (const double sign : {1.0, -1.0}) {
      std::vector<double> moved = x;
      for (std::size_t c = 0; c < x.size(); ++c) moved[c] += sign * amplitudes.back() * dx[c];
      if (std::isinf(omega)) fit_rigid_geometry(model, moved);
      start.replica_ids.push_back(static_cast<std::int64_t>(start.replica_ids.size()));
      start.positions_A.insert(start.positions_A.end(), moved.begin(), moved.end());
    }
  }
  start.velocities_A_per_akma.assign(start.positions_A.size(), 0.0);
  const auto engine = make_cpu_engine(system, start, {}, 1);
  engine->advance(kSteps);
  const State end = engine->state();
  for (std::size_t i = 0; i < which.size(); ++i) {
    const double* dx = &modes.displacements_per_sqrt_Da[which[i] * x.size()];
    // Half of the difference of both signs: what is even in the amplitude is gone.
    double q = 0.0;
    for (std::size_t c = 0; c < x.size(); ++c) {
      const double odd =
          end.positions_A[2 * i * x.size() + c] - end.positions_A[(2 * i + 1) * x.size() + c];
      q += 0.5 * model.mass_Da(static_cast<int>(c % 9 / 3)) * dx[c] * odd;
    }
    const double per_cm = modes.modes[which[i]].wavenumber_per_cm;
    const double h_omega = per_cm / units::wavenumber_per_cm(1.0) * system.integrator.timestep_akma;
    const double theta = 2.0 * std::asin(0.5 * h_omega);
    // Hydrogen bonds are as stiff again after some 0.2 A: odd terms shift frequencies by (1e-4)^2,
    // and a phase of 60 by 6e-7. The step's own shift of the fastest is 1e-3, a phase of 0.06.
    EXPECT_NEAR(q / amplitudes[i], std::cos(kSteps * theta), 2e-6) << per_cm;
  }
}

TEST(Modes, MatchSmallOscillations) {
  expect_oscillations(model_of("tip3p"), 4, kRigid, 1.0, {6, 9, 14, 19, 23});
  expect_oscillations(model_of("tip4p2005"), 3, kRigid, 2.0, {6, 10, 14, 17});
  expect_oscillations(model_of("tip3p"), 3, 20.0, 0.2, {6, 12, 17, 18, 21, 26});
  expect_oscillations(model_of("tip4p"), 2, 50.0, 0.1, {6, 11, 12, 14, 17});
}

// --- minima, and what is none -------------------------------------------------------------------

TEST(Modes, OfAMinimumAreAllReal) {
  for_models([](const WaterModel& model) {
    for (int n = 2; n <= 7; ++n) {
      for (const double omega : {kRigid, 50.0}) {
        const std::vector<double> x = minimum(model, n, omega, n);
        const NormalModes modes = normal_modes(model, x, omega);
        EXPECT_TRUE(modes.is_stationary());
        EXPECT_EQ(modes.imaginary_count(), 0) << n;
        for (std::size_t k = 0; k < kRigidBodyModes; ++k) {
          EXPECT_EQ(modes.modes[k].wavenumber_per_cm, 0.0);
        }
        // The softest of all lowest minima, five molecules of TIP3P, has 0.85.
        EXPECT_GT(modes.lowest_per_cm(), 0.5) << n;
        EXPECT_LT(modes.modes[static_cast<std::size_t>(6 * n - 1)].wavenumber_per_cm, 1300.0) << n;
        // At a stationary point nothing holds the cluster as a whole: what is left of K z is some
        // of the gradient, 1e-8, and rounding of the bonds, 1e-13 of 4 omega^2.
        const ModeCoordinates coordinates(model, model, x, std::isinf(omega));
        const MatrixXd hessian =
            coordinates.hessian(std::isinf(omega) ? 0.0 : omega, forces_of(model, x));
        EXPECT_LT((hessian * coordinates.rigid_body_motions()).cwiseAbs().maxCoeff(), 1e-7) << n;
      }
    }
  });
}

// --- bad input ----------------------------------------------------------------------------------

TEST(Modes, RefuseBadInput) {
  const WaterModel model = model_of("tip3p");
  const std::vector<double> x = random_cluster(model, 2, 1, 0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double omega : {0.0, -1.0, nan, -kRigid, 1.001 * kMaxModeOmega}) {
    EXPECT_THROW(normal_modes(model, x, omega), InputError) << omega;
    EXPECT_THROW(check_modes(tip3p(), 1, omega), InputError) << omega;
  }
  EXPECT_THROW(normal_modes(model, std::span(x).first(17)), InputError);
  EXPECT_THROW(normal_modes(model, {}), InputError);
  check_modes(tip3p(), 500, kRigid);
  check_modes(tip3p(), 333, kMaxModeOmega);
  EXPECT_THROW(check_modes(tip3p(), 501, kRigid), InputError);
  EXPECT_THROW(check_modes(tip3p(), 334, 100.0), InputError);
  std::vector<double> collinear = x, not_finite = x, coincident = x;
  for (std::size_t k = 0; k < 3; ++k)
    collinear[15 + k] = 2.0 * collinear[12 + k] - collinear[9 + k];
  not_finite[13] = nan;
  std::copy_n(x.begin(), 9, coincident.begin() + 9);
  for (const double omega : {kRigid, 20.0}) {
    EXPECT_THROW(normal_modes(model, collinear, omega), InputError);
    EXPECT_THROW(normal_modes(model, not_finite, omega), InputError);
    EXPECT_THROW(normal_modes(model, coincident, omega), NumericalError);
  }
}

}  // namespace
}  // namespace tarn
