#include "physics/pair_force.hpp"

#include "core/pack.hpp"
#include "dual.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"
#include "worst.hpp"

namespace tarn {
namespace {

using namespace test;
using Molecules = std::array<Triple<double>, 2>;
using Vector3 = Eigen::Matrix<Real, 3, 1>;

template <class T>
struct Pair {
  T coulomb, lj;
  Triple<T> f_i, f_j;
};

/// All that the formulas say of one pair of molecules.
template <bool kMSite, class T, class S, class Lanes = AllLanes>
Pair<T> evaluate(const PairParameters<S>& p, const Vec3<T>& r_oo, const SiteOffsets<T>& i,
                 const SiteOffsets<T>& j, const Lanes& lanes = {}) {
  const T zero(S(0));
  const Vec3<T> none{zero, zero, zero};
  SiteForces<T> f_i{none, none, none, none}, f_j = f_i;
  Pair<T> r{zero, zero, {}, {}};
  add_pair_forces<kMSite>(p, r_oo, i, j, lanes, f_i, f_j);
  add_pair_energy<kMSite>(p, r_oo, i, j, lanes, r.coulomb, r.lj);
  r.f_i = forces_on_atoms<kMSite>(f_i, T(p.m_weight));
  r.f_j = forces_on_atoms<kMSite>(f_j, T(p.m_weight));
  return r;
}
template <bool kMSite, class T, class S, class Lanes = AllLanes>
Pair<T> evaluate(const PairParameters<S>& p, const Triple<T>& x_i, const Triple<T>& x_j,
                 const Lanes& lanes = {}) {
  const T w(p.m_weight);
  return evaluate<kMSite>(p, x_i.o - x_j.o, site_offsets<kMSite>(x_i, w),
                          site_offsets<kMSite>(x_j, w), lanes);
}

/// Calls f(model, std::bool_constant<has M site>) for all six models.
template <class F>
void for_models_and_sites(F f) {
  for_models([&](const WaterModel& model) {
    if (model.has_m_site()) {
      f(model, std::true_type{});
    } else {
      f(model, std::false_type{});
    }
  });
}

/// Energies and forces summed over all pairs of sites in long double, straight from the table of
/// the model.
struct PlainSum {
  Real coulomb = 0, lj = 0;
  Real energy_scale = 0, force_scale = 0;  ///< sums of the magnitudes of all terms
  Vector9 f_i = Vector9::Zero(), f_j = Vector9::Zero();

  PlainSum(const WaterModel& model, const Molecules& x) {
    struct Site {
      Vector3 r;
      Real charge;
      std::array<Real, 3> weights;  ///< of the atoms in the position, and of the force on them
    };
    const Real half = Real(model.angle_hoh_degrees) / 360 * 3.14159265358979323846L;
    const Real w = model.r_om_A / (2 * model.r_oh_A * std::cos(half));
    std::array<std::array<Site, 4>, 2> sites;
    for (int a = 0; a < 2; ++a) {
      const Vector9 v = to_vector(x[a]);
      const std::array<Real, 3> weights[4] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1 - 2 * w, w, w}};
      const Real charges[4] = {model.charge_o_e, model.charge_h_e, model.charge_h_e,
                               model.charge_m_e};
      for (int s = 0; s < 4; ++s) {
        Vector3 r = Vector3::Zero();
        for (int k = 0; k < 3; ++k) r += weights[s][k] * v.segment<3>(3 * k);
        sites[a][s] = {r, charges[s], weights[s]};
      }
    }
    const auto push = [&](const Site& a, const Site& b, const Vector3& force) {
      for (int k = 0; k < 3; ++k) {
        f_i.segment<3>(3 * k) += a.weights[k] * force;
        f_j.segment<3>(3 * k) -= b.weights[k] * force;
      }
    };
    for (const Site& a : sites[0]) {
      for (const Site& b : sites[1]) {
        const Vector3 d = a.r - b.r;
        const Real r = d.norm();
        const Real e = units::coulomb_kcal_A_per_mol_e2 * Real(a.charge) * b.charge / r;
        coulomb += e;
        energy_scale += std::fabs(e);
        force_scale += std::fabs(e) / r;
        push(a, b, e / (r * r) * d);
      }
    }
    const Vector3 d = sites[0][0].r - sites[1][0].r;
    const Real r = d.norm();
    const Real repulsion = model.lj_a_kcal_A12_per_mol / std::pow(r, Real(12));
    const Real attraction = model.lj_c_kcal_A6_per_mol / std::pow(r, Real(6));
    lj = repulsion - attraction;
    energy_scale += repulsion + attraction;
    force_scale += (12 * repulsion + 6 * attraction) / r;
    push(sites[0][0], sites[1][0], (12 * repulsion - 6 * attraction) / (r * r) * d);
  }
};

Real largest(const Vector9& v) { return v.cwiseAbs().maxCoeff(); }

// Differences of exact coordinates carry one rounding each; at most four of them enter a distance,
// which enters with the power 14 at most; a dozen roundings of sums and products follow. Hence
// 14 * 4 + 12 units of roundoff, relative to the sum of the magnitudes of all terms.
constexpr double kRoundings = 68 * kEpsilon;

template <bool kMSite, class T>
void expect_the_same_sums(const PairParameters<T>& p, const Triple<T>& x_i, const Triple<T>& x_j) {
  const auto d_i = site_offsets<kMSite>(x_i, p.m_weight);
  const auto d_j = site_offsets<kMSite>(x_j, p.m_weight);
  const Vec3<T> none{};
  SiteForces<T> f_i[3], f_j[3];
  for (int k = 0; k < 3; ++k) f_i[k] = f_j[k] = {none, none, none, none};
  // Twice, so that there is something to add to.
  for (const Vec3<T>& r : {x_i.o - x_j.o, x_j.o - x_i.o}) {
    add_pair_forces_one_by_one<kMSite>(p, r, d_i, d_j, AllLanes{}, f_i[0], f_j[0]);
    add_pair_forces_in_stages<kMSite>(p, r, d_i, d_j, AllLanes{}, f_i[1], f_j[1]);
    add_pair_forces_of_two_sites<kMSite>(p, r, d_i, d_j, AllLanes{}, f_i[2], f_j[2]);
  }
  for (int k = 1; k < 3; ++k) {
    EXPECT_EQ(std::memcmp(&f_i[k], &f_i[0], sizeof(f_i[0])), 0) << "order " << k;
    EXPECT_EQ(std::memcmp(&f_j[k], &f_j[0], sizeof(f_j[0])), 0) << "order " << k;
  }
}

TEST(PairForce, IsTheSameSumInEveryOrder) {
  Random random(9);
  for_models_and_sites([&](const WaterModel& model, auto m_site) {
    for (int n = 0; n < 200; ++n) {
      const Molecules x = random_pair(model, random, random.uniform(2.3, 14.0), 10.0);
      expect_the_same_sums<m_site()>(pair_parameters<double>(model), x[0], x[1]);
      // One lane of packs of floats.
      const auto rounded = [](const Triple<double>& t) {
        std::array<Triple<double>, Pack<float>::lanes> all;
        all.fill(t);
        return lane_of(pack_triples<float>(all), 0);
      };
      expect_the_same_sums<m_site()>(pair_parameters<float>(model), rounded(x[0]), rounded(x[1]));
    }
  });
}

/// The largest differences between energies and forces of pairs, relative to the magnitudes of all
/// terms.
class PairErrors {
 public:
  explicit PairErrors(const std::string& name)
      : energy_(name + "_energy"), force_(name + "_force") {}
  void see(const Pair<double>& found, Real energy, const Vector9& f_i, const Vector9& f_j,
           const PlainSum& sizes) {
    energy_.see((found.coulomb + found.lj - energy) / sizes.energy_scale);
    force_.see(largest(to_vector(found.f_i) - f_i) / sizes.force_scale);
    force_.see(largest(to_vector(found.f_j) - f_j) / sizes.force_scale);
  }
  void expect_below(double bound) const {
    energy_.expect_below(bound);
    force_.expect_below(bound);
  }

 private:
  Worst energy_, force_;
};

/// Calls f(x, r, exact, evaluate) for random pairs of each model: their positions, energies and
/// forces by the formulas, the plain sum, and the formulas for other positions.
template <class F>
void for_pairs(std::uint64_t seed, int pairs, double farthest_A, double shift_A, F f) {
  Random random(seed);
  for_models_and_sites([&](const WaterModel& model, auto m_site) {
    const auto p = pair_parameters<double>(model);
    const auto pair_of = [&](const auto& i, const auto& j) { return evaluate<m_site()>(p, i, j); };
    for (int n = 0; n < pairs; ++n) {
      const Molecules x = random_pair(model, random, random.uniform(2.3, farthest_A), shift_A);
      f(x, pair_of(x[0], x[1]), PlainSum(model, x), pair_of);
    }
  });
}

TEST(PairForce, EqualsThePlainSumOverSites) {
  PairErrors errors("pair");
  Worst lj("pair_lj");
  for_pairs(1, 3000, 14.0, 10.0, [&](const auto&, const auto& r, const PlainSum& exact, auto) {
    errors.see(r, exact.coulomb + exact.lj, exact.f_i, exact.f_j, exact);
    lj.see((r.lj - exact.lj) / exact.energy_scale);
  });
  errors.expect_below(kRoundings);
  lj.expect_below(kRoundings);
}

// Atoms of bent and stretched molecules too: the M site is a linear combination of the atoms, so
// that its force spreads linearly whatever the shape.
TEST(PairForce, IsMinusTheGradientOfTheEnergy) {
  using D = Dual<long double, 18>;
  Random random(2);
  Worst error("pair_gradient_relative");
  for_pairs(2, 200, 9.0, 10.0, [&](Molecules x, auto, const PlainSum& exact, auto pair_of) {
    for (Triple<double>& t : x) t = t + random.triple(0.1);
    std::array<std::array<D, 9>, 2> v;
    for (int k = 0; k < 18; ++k) v[k / 9][k % 9] = D::variable(to_array(x[k / 9])[k % 9], k);
    const Pair<D> dual = pair_of(to_triple(v[0]), to_triple(v[1]));
    const Pair<double> r = pair_of(x[0], x[1]);
    for (int k = 0; k < 18; ++k) {
      const double f = to_array(k < 9 ? r.f_i : r.f_j)[k % 9];
      error.see((f + dual.coulomb.d[k] + dual.lj.d[k]) / exact.force_scale, k);
    }
  });
  error.expect_below(kRoundings);
}

// Each term is added to one atom and subtracted from another, with the same bits; what is left is
// the rounding of the sums: under 30 additions.
TEST(PairForce, ThirdLawAndNoTorque) {
  Worst force("pair_total_force_relative"), turning("pair_total_torque_relative");
  for_pairs(3, 1000, 9.0, 1.0, [&](const auto& x, const auto& r, const PlainSum& exact, auto) {
    const Vector9 f_i = to_vector(r.f_i), f_j = to_vector(r.f_j);
    force.see((total(f_i) + total(f_j)).norm() / exact.force_scale);
    // An error of the force acts on an arm of 12 A at most.
    turning.see((torque(x[0], f_i) + torque(x[1], f_j)).norm() / (12 * exact.force_scale));
  });
  force.expect_below(30 * kEpsilon);
  turning.expect_below(kRoundings);
}

TEST(PairForce, MovesWithTheMolecules) {
  Random random(4);
  PairErrors errors("pair_motion");
  for_pairs(4, 1000, 9.0, 1.0, [&](const auto& x, const auto& r, const auto& exact, auto pair_of) {
    const RigidMotion motion = RigidMotion::random(random, 10.0);
    errors.see(pair_of(motion(x[0]), motion(x[1])), r.coulomb + r.lj, to_vector(motion.turn(r.f_i)),
               to_vector(motion.turn(r.f_j)), exact);
  });
  // Turned coordinates of up to 20 A are rounded, and distances of 1.3 A or more are made of them:
  // 15 roundings more in a distance, with the power 14 for the oxygens (2.3 A) at most.
  errors.expect_below(14 * 15 * kEpsilon);
}

TEST(PairForce, ExchangesOfAtomsAndMolecules) {
  PairErrors errors("pair_exchange");
  for_pairs(5, 1000, 9.0, 10.0, [&](const auto& x, const auto& r, const auto& exact, auto pair_of) {
    const auto compare = [&](const Pair<double>& s, const auto& f_i, const auto& f_j) {
      errors.see(s, r.coulomb + r.lj, to_vector(f_i), to_vector(f_j), exact);
    };
    compare(pair_of(exchange_hydrogens(x[0]), x[1]), exchange_hydrogens(r.f_i), r.f_j);
    compare(pair_of(x[0], exchange_hydrogens(x[1])), r.f_i, exchange_hydrogens(r.f_j));
    compare(pair_of(x[1], x[0]), r.f_j, r.f_i);
  });
  errors.expect_below(kRoundings);
}

// --- closed forms -------------------------------------------------------------------------------

// Without charges the minimum is at r^6 = 2 A/C, with the energy -C^2/(4 A) and no force.
TEST(PairForce, LennardJonesMinimum) {
  for_models_and_sites([&](const WaterModel& model, auto m_site) {
    PairParameters<double> p = pair_parameters<double>(model);
    p.qq_nn = p.qq_nh = p.qq_hh = 0.0;
    const double a = model.lj_a_kcal_A12_per_mol, c = model.lj_c_kcal_A6_per_mol;
    const double r = std::pow(2 * a / c, 1.0 / 6.0);
    const Triple<double> x = molecule_at_origin(model);
    Triple<double> y = x;
    for (Vec3<double>* v : {&y.o, &y.h1, &y.h2}) v->z += r;
    const Pair<double> pair = evaluate<m_site()>(p, x, y);
    EXPECT_NEAR(pair.lj, -c * c / (4 * a), 20 * kEpsilon * c * c / (4 * a));
    EXPECT_EQ(pair.coulomb, 0.0);
    // The two terms, 12 A r^-13 = 6 C r^-7, cancel to their roundings.
    EXPECT_NEAR(pair.f_i.o.z, 0.0, 40 * kEpsilon * 12 * a * std::pow(r, -13));
    for (double f : {pair.f_i.h1.z, pair.f_i.h2.z, pair.f_j.h1.z, pair.f_j.h2.z}) EXPECT_EQ(f, 0.0);
  });
}

// Far away only the dipoles are felt, k (u.v - 3 (u.n)(v.n)) / r^3, with a first correction of
// relative order 1/r: halving 1/r halves what is left.
TEST(PairForce, DipolesFarAway) {
  for_models_and_sites([&](const WaterModel& model, auto m_site) {
    const auto p = pair_parameters<double>(model);
    const auto dipole = [&](const Triple<double>& x) -> Vec3<double> {
      const Vec3<double> s = (x.h1 - x.o) + (x.h2 - x.o);
      return (model.charge_h_e + model.charge_m_e * model.m_site_weight()) * s;
    };
    Random random(6);
    for (int n = 0; n < 20; ++n) {
      const Triple<double> x = random_molecule(model, random, 0.0);
      const Triple<double> y = random_molecule(model, random, 0.0);
      const Vec3<double> u = dipole(x), v = dipole(y);
      const double k = units::coulomb_kcal_A_per_mol_e2;
      const double limit = k * (dot(u, v) - 3 * u.z * v.z);
      double rest[2];
      for (int m = 0; m < 2; ++m) {
        const double r = m == 0 ? 100.0 : 200.0;
        Triple<double> moved = y;
        for (Vec3<double>* w : {&moved.o, &moved.h1, &moved.h2}) w->z += r;
        rest[m] = evaluate<m_site()>(p, x, moved).coulomb * r * r * r - limit;
      }
      const double scale = k * std::sqrt(norm2(u) * norm2(v));
      EXPECT_LT(std::fabs(rest[0]), 0.1 * scale);
      // The next order, 1/r^2, changes the ratio by some 2% of the scale of the first.
      EXPECT_NEAR(rest[0] / 2, rest[1], 0.02 * 0.1 * scale);
    }
  });
}

// --- packs --------------------------------------------------------------------------------------

template <class T>
void set_lane(Vec3<Pack<T>>& v, int lane, const Vec3<double>& s) {
  v.x.v[lane] = static_cast<T>(s.x);
  v.y.v[lane] = static_cast<T>(s.y);
  v.z.v[lane] = static_cast<T>(s.z);
}

template <class T>
struct PackedPairs {
  std::array<Molecules, Pack<T>::lanes> x;
  Vec3<Pack<T>> r_oo;
  SiteOffsets<Pack<T>> i{}, j{};

  /// Differences are taken in double and rounded to T, as engines do.
  template <bool kMSite>
  static PackedPairs random(const WaterModel& model, Random& random) {
    PackedPairs r;
    const double w = model.m_site_weight();
    for (int lane = 0; lane < Pack<T>::lanes; ++lane) {
      r.x[lane] = random_pair(model, random, random.uniform(2.3, 9.0), 10.0);
      const auto [a, b] = r.x[lane];
      const auto put = [&](Vec3<Pack<T>>& v, const Vec3<double>& s) { set_lane(v, lane, s); };
      put(r.r_oo, a.o - b.o);
      const auto offsets_a = site_offsets<kMSite>(a, w), offsets_b = site_offsets<kMSite>(b, w);
      put(r.i.h1, offsets_a.h1);
      put(r.i.h2, offsets_a.h2);
      put(r.j.h1, offsets_b.h1);
      put(r.j.h2, offsets_b.h2);
      if constexpr (kMSite) {
        put(r.i.m, offsets_a.m);
        put(r.j.m, offsets_b.m);
      }
    }
    return r;
  }
};

template <class T>
class PairForcePack : public ::testing::Test {};
using FloatTypes = ::testing::Types<double, float>;
TYPED_TEST_SUITE(PairForcePack, FloatTypes);

// The first rounding to float adds one rounding to each distance: as before, with half as much
// again. The error must show: a pack of floats that is as good as doubles is none.
TYPED_TEST(PairForcePack, EqualsThePlainSumOverSites) {
  using T = TypeParam;
  const double epsilon = std::is_same_v<T, float> ? kFloatEpsilon : kEpsilon;
  Random random(8);
  Worst energy("pair_pack_energy"), force("pair_pack_force");
  Real sum_error2 = 0, sum_force2 = 0;
  for_models_and_sites([&](const WaterModel& model, auto m_site) {
    const auto p = pair_parameters<T>(model);
    for (int n = 0; n < 1000; ++n) {
      const auto pairs = PackedPairs<T>::template random<m_site()>(model, random);
      const auto r = evaluate<m_site()>(p, pairs.r_oo, pairs.i, pairs.j);
      for (int lane = 0; lane < Pack<T>::lanes; ++lane) {
        const PlainSum exact(model, pairs.x[lane]);
        energy.see((Real(r.coulomb[lane]) + r.lj[lane] - exact.coulomb - exact.lj) /
                   exact.energy_scale);
        for (const auto& [f, g] : {std::pair(r.f_i, exact.f_i), std::pair(r.f_j, exact.f_j)}) {
          const std::array<T, 9> a = to_array(lane_of(f, lane));
          for (int k = 0; k < 9; ++k) {
            force.see((a[k] - g[k]) / exact.force_scale);
            sum_error2 += (a[k] - g[k]) * (a[k] - g[k]);
            sum_force2 += g[k] * g[k];
          }
        }
      }
    }
  });
  energy.expect_between(0.5 * epsilon, 1.5 * 68 * epsilon);
  force.expect_between(0.5 * epsilon, 1.5 * 68 * epsilon);
  // Root mean square over all components, relative to that of the forces. In float: 2e-6.
  const Real rms = std::sqrt(sum_error2 / sum_force2);
  EXPECT_LT(rms, 2e-6 / kFloatEpsilon * epsilon);
  EXPECT_GT(rms, 0.1 * epsilon);
  ::testing::Test::RecordProperty("pair_pack_force_rms", std::to_string(std::log10(rms)));
}

// A lane's bits depend on its own numbers only: shifting all pairs by a lane shifts the results.
TYPED_TEST(PairForcePack, LanesAreIndependent) {
  using T = TypeParam;
  constexpr int lanes = Pack<T>::lanes;
  const auto shifted = [&](const Vec3<Pack<T>>& v) -> Vec3<Pack<T>> {
    return {rotate_lanes(v.x), rotate_lanes(v.y), rotate_lanes(v.z)};
  };
  Random random(9);
  for_models_and_sites([&](const WaterModel& model, auto m_site) {
    const auto p = pair_parameters<T>(model);
    for (int n = 0; n < 100; ++n) {
      const auto q = PackedPairs<T>::template random<m_site()>(model, random);
      SiteOffsets<Pack<T>> i = q.i, j = q.j;
      for (Vec3<Pack<T>>* v : {&i.h1, &i.h2, &i.m, &j.h1, &j.h2, &j.m}) *v = shifted(*v);
      const auto r = evaluate<m_site()>(p, q.r_oo, q.i, q.j);
      const auto s = evaluate<m_site()>(p, shifted(q.r_oo), i, j);
      for (int lane = 0; lane < lanes; ++lane) {
        const int from = (lane + 1) % lanes;
        ASSERT_EQ(bits_of_triple(lane_of(r.f_i, from)), bits_of_triple(lane_of(s.f_i, lane)));
        ASSERT_EQ(bits_of_triple(lane_of(r.f_j, from)), bits_of_triple(lane_of(s.f_j, lane)));
        ASSERT_EQ(bits_of_number(r.coulomb[from]), bits_of_number(s.coulomb[lane]));
        ASSERT_EQ(bits_of_number(r.lj[from]), bits_of_number(s.lj[lane]));
      }
    }
  });
}

// A lane that does not count keeps the bits of its sums; the others get those of AllLanes.
TYPED_TEST(PairForcePack, MaskedLanesAreUntouched) {
  using T = TypeParam;
  constexpr int lanes = Pack<T>::lanes;
  Random random(10);
  for_models_and_sites([&](const WaterModel& model, auto m_site) {
    const auto p = pair_parameters<T>(model);
    for (int n = 0; n < 200; ++n) {
      const auto q = PackedPairs<T>::template random<m_site()>(model, random);
      Pack<T> flags;
      for (int lane = 0; lane < lanes; ++lane) {
        flags.v[lane] = n < 2 ? T(n) : T(random.bits() % 2);
      }
      const SomeLanes<Pack<T>> some{flags > Pack<T>(T(0))};
      SiteForces<Pack<T>> start;
      for (Vec3<Pack<T>>* v : {&start.o, &start.h1, &start.h2, &start.m}) {
        for (int lane = 0; lane < lanes; ++lane) set_lane(*v, lane, random.in_ball(5.0));
      }
      auto all_i = start, all_j = start, some_i = start, some_j = start;
      Pack<T> all_coulomb(T(1.5)), all_lj(T(-0.25)), some_coulomb(T(1.5)), some_lj(T(-0.25));
      add_pair_forces<m_site()>(p, q.r_oo, q.i, q.j, AllLanes{}, all_i, all_j);
      add_pair_forces<m_site()>(p, q.r_oo, q.i, q.j, some, some_i, some_j);
      add_pair_energy<m_site()>(p, q.r_oo, q.i, q.j, AllLanes{}, all_coulomb, all_lj);
      add_pair_energy<m_site()>(p, q.r_oo, q.i, q.j, some, some_coulomb, some_lj);
      for (int lane = 0; lane < lanes; ++lane) {
        const bool counts = flags[lane] != T(0);
        const auto& expected_i = counts ? all_i : start;
        const auto& expected_j = counts ? all_j : start;
        const auto same = [&](const SiteForces<Pack<T>>& a, const SiteForces<Pack<T>>& b) {
          const auto bits = [&](const auto& u, const auto& v, const auto& w) {
            return bits_of_triple(lane_of(Triple<Pack<T>>{u, v, w}, lane));
          };
          return bits(a.o, a.h1, a.h2) == bits(b.o, b.h1, b.h2) &&
                 bits(a.m, a.m, a.m) == bits(b.m, b.m, b.m);
        };
        ASSERT_TRUE(same(some_i, expected_i));
        ASSERT_TRUE(same(some_j, expected_j));
        ASSERT_EQ(some_coulomb[lane], counts ? all_coulomb[lane] : T(1.5));
        ASSERT_EQ(some_lj[lane], counts ? all_lj[lane] : T(-0.25));
      }
    }
  });
}

}  // namespace
}  // namespace tarn
