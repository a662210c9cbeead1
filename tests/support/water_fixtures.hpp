#pragma once

#include <bit>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "core/pack.hpp"
#include "dense.hpp"
#include "physics/penalty.hpp"
#include "tarn/physics/triple.hpp"
#include "tarn/physics/water_model.hpp"
#include "testing.hpp"

/// @file
/// Molecules, clusters and reference structures for the tests of the formulas.

namespace tarn::test {

using Vector9 = Eigen::Matrix<Real, 9, 1>;
using Matrix9 = Eigen::Matrix<Real, 9, 9>;
using Matrix39 = Eigen::Matrix<Real, 3, 9>;

/// Random numbers that are the same on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t bits() { return engine_(); }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  /// Uniform in the exponent: all magnitudes have the same probability.
  double log_uniform(double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  }
  Vec3<double> in_ball(double radius) {
    for (;;) {
      const Vec3<double> v{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
      if (v.x * v.x + v.y * v.y + v.z * v.z <= 1.0) return radius * v;
    }
  }
  Triple<double> triple(double radius) {
    return {in_ball(radius), in_ball(radius), in_ball(radius)};
  }

 private:
  std::mt19937_64 engine_;
};

/// x -> R x + t.
struct RigidMotion {
  std::array<Vec3<double>, 3> rows;
  Vec3<double> shift;

  static RigidMotion random(Random& random, double shift_A) {
    double q[4], n2;
    do {
      n2 = 0.0;
      for (double& c : q) {
        c = random.uniform(-1, 1);
        n2 += c * c;
      }
    } while (n2 > 1.0 || n2 < 0.01);
    const double w = q[0], x = q[1], y = q[2], z = q[3], s = 2.0 / n2;
    return {{{{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
              {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
              {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}}},
            random.in_ball(shift_A)};
  }
  Vec3<double> turn(const Vec3<double>& v) const {
    return {dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)};
  }
  Triple<double> turn(const Triple<double>& t) const { return {turn(t.o), turn(t.h1), turn(t.h2)}; }
  Triple<double> operator()(const Triple<double>& x) const {
    return {turn(x.o) + shift, turn(x.h1) + shift, turn(x.h2) + shift};
  }
};

inline Triple<double> exchange_hydrogens(const Triple<double>& x) { return {x.o, x.h2, x.h1}; }

/// The rigid triangle with O at the origin.
inline Triple<double> molecule_at_origin(const WaterModel& model) {
  const double half = 0.5 * model.angle_hoh_degrees * units::pi / 180.0;
  const double x = model.r_oh_A * std::cos(half), y = model.r_oh_A * std::sin(half);
  return {{0, 0, 0}, {x, y, 0}, {x, -y, 0}};
}

/// The rigid triangle with a random rotation and a translation of at most shift_A.
inline Triple<double> random_molecule(const WaterModel& model, Random& random, double shift_A) {
  return RigidMotion::random(random, shift_A)(molecule_at_origin(model));
}

/// Two molecules with oxygens at a distance of r_oo_A and no close sites, within shift_A of the
/// origin.
inline std::array<Triple<double>, 2> random_pair(const WaterModel& model, Random& random,
                                                 double r_oo_A, double shift_A) {
  for (;;) {
    const Triple<double> i = random_molecule(model, random, shift_A);
    Triple<double> j = random_molecule(model, random, 0.0);
    Vec3<double> u = random.in_ball(1.0);
    u = (r_oo_A / std::sqrt(norm2(u))) * u;
    j = {j.o + i.o + u, j.h1 + i.o + u, j.h2 + i.o + u};
    double closest = 1e9;
    for (const Vec3<double>& a : {i.o, i.h1, i.h2}) {
      for (const Vec3<double>& b : {j.o, j.h1, j.h2}) closest = std::min(closest, norm2(a - b));
    }
    if (closest > 1.3 * 1.3) return {i, j};
  }
}

// --- in matrices

template <class T>
std::array<T, 9> to_array(const Triple<T>& x) {
  return {x.o.x, x.o.y, x.o.z, x.h1.x, x.h1.y, x.h1.z, x.h2.x, x.h2.y, x.h2.z};
}
template <class T>
Triple<T> to_triple(const std::array<T, 9>& a) {
  return {{a[0], a[1], a[2]}, {a[3], a[4], a[5]}, {a[6], a[7], a[8]}};
}
inline Vector9 to_vector(const Triple<double>& x) {
  const std::array<double, 9> a = to_array(x);
  return Eigen::Map<const Eigen::Matrix<double, 9, 1>>(a.data()).cast<Real>();
}
inline Eigen::Matrix<Real, 3, 1> to_vector(const Vec3<double>& v) { return {v.x, v.y, v.z}; }
inline Eigen::Matrix<Real, 3, 1> to_vector(const BondValues<double>& y) {
  return {y.oh1, y.oh2, y.hh};
}

/// The 9 x 9 mass matrix.
inline Matrix9 mass_matrix(const Masses<double>& m) {
  Vector9 d;
  d << m.o, m.o, m.o, m.h, m.h, m.h, m.h, m.h, m.h;
  return d.asDiagonal();
}
inline Matrix9 inverse_mass_matrix(const Masses<double>& m) {
  return mass_matrix(m).diagonal().cwiseInverse().asDiagonal();
}
/// J by its definition, grad g_c = 2 (x_a - x_b) at atom a and the opposite at b.
inline Matrix39 dense_jacobian(const Vector9& x) {
  const int ends[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  Matrix39 jacobian = Matrix39::Zero();
  for (int c = 0; c < 3; ++c) {
    const auto [a, b] = ends[c];
    const Eigen::Matrix<Real, 3, 1> d = x.segment<3>(3 * a) - x.segment<3>(3 * b);
    jacobian.block<1, 3>(c, 3 * a) = 2 * d.transpose();
    jacobian.block<1, 3>(c, 3 * b) = -2 * d.transpose();
  }
  return jacobian;
}
inline Matrix39 dense_jacobian(const Triple<double>& x) { return dense_jacobian(to_vector(x)); }
/// g by its definition. @param length2 squared lengths of the bonds
inline Eigen::Matrix<Real, 3, 1> dense_constraint(const Vector9& x,
                                                  const Eigen::Matrix<Real, 3, 1>& length2) {
  return Eigen::Matrix<Real, 3, 1>((x.segment<3>(3) - x.segment<3>(0)).squaredNorm(),
                                   (x.segment<3>(6) - x.segment<3>(0)).squaredNorm(),
                                   (x.segment<3>(6) - x.segment<3>(3)).squaredNorm()) -
         length2;
}
inline Eigen::Matrix<Real, 3, 1> dense_constraint(const Triple<double>& x,
                                                  const BondReference<double>& r) {
  return dense_constraint(to_vector(x), {r.oh2, r.oh2, r.hh2});
}
/// Sum of x_i cross f_i over the atoms.
inline Eigen::Matrix<Real, 3, 1> torque(const Triple<double>& x, const Vector9& f) {
  const Vector9 v = to_vector(x);
  Eigen::Matrix<Real, 3, 1> sum = Eigen::Matrix<Real, 3, 1>::Zero();
  for (int a = 0; a < 9; a += 3) {
    const Eigen::Matrix<Real, 3, 1> r = v.segment<3>(a), g = f.segment<3>(a);
    sum += r.cross(g);
  }
  return sum;
}
/// Sum of the three vectors.
inline Eigen::Matrix<Real, 3, 1> total(const Vector9& f) {
  return f.segment<3>(0) + f.segment<3>(3) + f.segment<3>(6);
}

// --- in packs

/// Puts one triple into each lane.
template <class T>
Triple<Pack<T>> pack_triples(const std::array<Triple<double>, Pack<T>::lanes>& t) {
  T numbers[9][Pack<T>::lanes];
  for (int lane = 0; lane < Pack<T>::lanes; ++lane) {
    const std::array<double, 9> a = to_array(t[lane]);
    for (int k = 0; k < 9; ++k) numbers[k][lane] = static_cast<T>(a[k]);
  }
  std::array<Pack<T>, 9> r;
  for (int k = 0; k < 9; ++k) r[k] = Pack<T>::load_unaligned(numbers[k]);
  return to_triple(r);
}
template <class T>
Vec3<T> lane_of(const Vec3<Pack<T>>& v, int lane) {
  return {v.x[lane], v.y[lane], v.z[lane]};
}
template <class T>
Triple<T> lane_of(const Triple<Pack<T>>& t, int lane) {
  return {lane_of(t.o, lane), lane_of(t.h1, lane), lane_of(t.h2, lane)};
}

/// The bits of every number, for comparisons that distinguish signs of zero and NaN.
inline std::uint64_t bits_of_number(double v) { return std::bit_cast<std::uint64_t>(v); }
inline std::uint64_t bits_of_number(float v) { return std::bit_cast<std::uint32_t>(v); }
template <class T>
std::array<std::uint64_t, 9> bits_of_triple(const Triple<T>& t) {
  const std::array<T, 9> a = to_array(t);
  std::array<std::uint64_t, 9> r;
  for (int k = 0; k < 9; ++k) r[k] = bits_of_number(a[k]);
  return r;
}

// --- reference structures

/// Reads tests/data/structures/<name>: molecules in the atom order O, H1, H2.
inline std::vector<Triple<double>> reference_cluster(const std::string& name) {
  std::ifstream in(std::string(TARN_SOURCE_DIR) + "/tests/data/structures/" + name);
  int atoms = 0;
  std::string line;
  std::getline(in, line);
  std::istringstream(line) >> atoms;
  std::getline(in, line);
  std::vector<double> x;
  while (static_cast<int>(x.size()) < 3 * atoms && std::getline(in, line)) {
    std::istringstream row(line);
    std::string species;
    double c[3];
    if (!(row >> species >> c[0] >> c[1] >> c[2])) break;
    x.insert(x.end(), c, c + 3);
  }
  if (atoms == 0 || atoms % 3 != 0 || static_cast<int>(x.size()) != 3 * atoms) {
    throw std::runtime_error("tests/data/structures/" + name + " cannot be read");
  }
  std::vector<Triple<double>> molecules;
  for (std::size_t k = 0; k < x.size(); k += 9) {
    std::array<double, 9> a;
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(k), 9, a.begin());
    molecules.push_back(to_triple(a));
  }
  return molecules;
}

// --- models and whole clusters

inline WaterModel tip3p() { return *find_water_model("tip3p"); }

/// Calls f(model) for all models.
template <class F>
void for_models(F f) {
  for (const WaterModel& model : kWaterModels) {
    SCOPED_TRACE(std::string(model.name));
    f(model);
  }
}

/// Molecule m of positions or velocities [molecule][9].
inline Triple<double> molecule(std::span<const double> x, std::size_t m) {
  std::array<double, 9> a;
  std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(9 * m), 9, a.begin());
  return to_triple(a);
}

/// Sums over the atoms of a cluster.
struct Momenta {
  Eigen::Vector3d linear = Eigen::Vector3d::Zero();   ///< of m v
  Eigen::Vector3d angular = Eigen::Vector3d::Zero();  ///< of m x cross v
  Eigen::Vector3d moment = Eigen::Vector3d::Zero();   ///< of m x
  double kinetic = 0.0;
};
inline Momenta momenta(const WaterModel& model, std::span<const double> x,
                       std::span<const double> v) {
  Momenta sums;
  for (std::size_t a = 0; a < x.size() / 3; ++a) {
    const double m = model.mass_Da(static_cast<int>(a % 3));
    const Eigen::Map<const Eigen::Vector3d> r(&x[3 * a]), u(&v[3 * a]);
    sums.linear += m * u;
    sums.angular += m * r.cross(u);
    sums.moment += m * r;
    sums.kinetic += 0.5 * m * u.squaredNorm();
  }
  return sums;
}

/// Largest rate of a squared bond length.
inline double largest_bond_rate(std::span<const double> x, std::span<const double> v) {
  double largest = 0.0;
  for (std::size_t m = 0; m < x.size() / 9; ++m) {
    const BondValues<double> rate = apply_jacobian(bonds(molecule(x, m)), molecule(v, m));
    largest = std::max({largest, std::abs(rate.oh1), std::abs(rate.oh2), std::abs(rate.hh)});
  }
  return largest;
}

/// Largest error of a bond length [A].
inline double worst_length(const WaterModel& model, std::span<const double> x) {
  double worst = 0.0;
  for (std::size_t m = 0; m < x.size() / 9; ++m) {
    const Bonds<double> b = bonds(molecule(x, m));
    for (double l2 : {b.length2.oh1, b.length2.oh2}) {
      worst = std::max(worst, std::abs(std::sqrt(l2) - model.r_oh_A));
    }
    worst = std::max(worst, std::abs(std::sqrt(b.length2.hh) - model.r_hh_A()));
  }
  return worst;
}

}  // namespace tarn::test
