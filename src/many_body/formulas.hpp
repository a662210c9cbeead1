#pragma once

#include "core/elementary.hpp"
#include "core/pack.hpp"
#include "polynomial_table.hpp"
#include "tarn/core/number.hpp"
#include "tarn/core/vec3.hpp"

/// @file
/// Formulas of MB-pol (Babin, Leforestier, Paesani 2013) and Dang-Chang (1997) in Å, kcal/mol and
/// e, for all number types of doubles.

namespace tarn::inline TARN_ARCH {

/// log(x) for 1/2 <= x <= 2, by the series of 2 artanh((x - 1)/(x + 1)).
template <class T>
TARN_HD T log_near_one(const T& x) {
  constexpr detail::Series<17> kSeries([](int k) { return (2.0 * k + 1.0) / (2.0 * k - 1.0); });
  const T s = (x - T(1.0)) / (x + T(1.0));
  return (s + s) * detail::polynomial(kSeries.c, s * s);
}

/// A value and its derivative.
template <class T>
struct Slope {
  T value, derivative;
};

/// 1 below a, 0 above b, (1 + cos(pi (r - a)/(b - a)))/2 between them.
template <class T>
TARN_HD Slope<T> switch_off(const T& r, double a, double b) {
  constexpr double kPi = 3.14159265358979323846;
  constexpr detail::Series<11> kSine([](int k) { return -2.0 * k * (2.0 * k + 1.0); });
  constexpr detail::Series<11> kCosine([](int k) { return -2.0 * k * (2.0 * k - 1.0); });
  // The angle is measured from the middle, where the cosine is -sin(angle).
  const T fraction = max(T(0.0), min(T(1.0), (r - T(a)) * T(1.0 / (b - a))));
  const T angle = T(kPi) * (fraction - T(0.5)), angle2 = angle * angle;
  const T sine = angle * detail::polynomial(kSine.c, angle2);
  const T cosine = detail::polynomial(kCosine.c, angle2);
  const T outside_slope = T(-0.5 * kPi / (b - a)) * cosine;
  const auto within = (T(a) < r) & (r < T(b));
  return {T(0.5) - T(0.5) * sine, select(within, outside_slope, T(0.0))};
}

// --- monomers ------------------------------------------------------------------------------------

/// Bond vectors of a molecule as lengths, directions and the cosine of their angle.
template <class T>
struct MonomerBonds {
  T r1, r2, c, inverse_r1, inverse_r2;
  Vec3<T> e1, e2;

  TARN_HD MonomerBonds(const Vec3<T>& o, const Vec3<T>& h1, const Vec3<T>& h2) {
    const Vec3<T> d1 = h1 - o, d2 = h2 - o;
    const T square1 = norm2(d1), square2 = norm2(d2);
    inverse_r1 = rsqrt(square1);
    inverse_r2 = rsqrt(square2);
    r1 = square1 * inverse_r1;
    r2 = square2 * inverse_r2;
    e1 = inverse_r1 * d1;
    e2 = inverse_r2 * d2;
    c = dot(e1, e2);
  }
};
/// A function of r1, r2 and c, and its derivatives.
template <class T>
struct BondFunction {
  T value, r1, r2, c;
};
/// Adds the gradient of a function of the bonds.
template <class T>
TARN_HD void add_bond_gradient(const MonomerBonds<T>& b, const T& r1, const T& r2, const T& c,
                               Vec3<T>& o, Vec3<T>& h1, Vec3<T>& h2) {
  const T c1 = c * b.inverse_r1, c2 = c * b.inverse_r2;
  const Vec3<T> g1 = fma(c1, b.e2, fnma(c1, b.c * b.e1, r1 * b.e1));
  const Vec3<T> g2 = fma(c2, b.e1, fnma(c2, b.c * b.e2, r2 * b.e2));
  h1 = h1 + g1;
  h2 = h2 + g2;
  o = o - (g1 + g2);
}

/// The sums over the rows of x1^i x2^j x3^k and x2^i x1^j x3^k, with derivatives by x1, x2, x3.
template <class T>
TARN_HD void sum_rows(const many_body::SurfaceRows& rows, const T& x1, const T& x2, const T& x3,
                      BondFunction<T>* sum) {
  constexpr int kPowers = 9;
  T a[kPowers + 1], b[kPowers + 1];  // [1 + power], of x1 and x2
  a[0] = b[0] = T(0.0);
  a[1] = b[1] = T(1.0);
  for (int k = 1; k < kPowers; ++k) {
    a[k + 1] = a[k] * x1;
    b[k + 1] = b[k] * x2;
  }
  sum[0] = sum[1] = {T(0.0), T(0.0), T(0.0), T(0.0)};
  for (int run = 0; run < rows.count; ++run) {
    const double* const c = rows.coefficients + run * rows.powers;
    T q = T(c[rows.powers - 1]), slope = T(0.0);
    for (int k = rows.powers - 2; k >= 0; --k) {
      slope = fma(slope, x3, q);
      q = fma(q, x3, T(c[k]));
    }
    const int i = rows.runs[run].i, j = rows.runs[run].j;
    const T di = T(static_cast<double>(i)) * q, dj = T(static_cast<double>(j)) * q;
    const T first = a[i + 1] * b[j + 1], second = b[i + 1] * a[j + 1];
    sum[0].value = fma(first, q, sum[0].value);
    sum[0].r1 = fma(di * a[i], b[j + 1], sum[0].r1);
    sum[0].r2 = fma(dj * a[i + 1], b[j], sum[0].r2);
    sum[0].c = fma(first, slope, sum[0].c);
    sum[1].value = fma(second, q, sum[1].value);
    sum[1].r1 = fma(dj * b[i + 1], a[j], sum[1].r1);
    sum[1].r2 = fma(di * b[i], a[j + 1], sum[1].r2);
    sum[1].c = fma(second, slope, sum[1].c);
  }
}

/// Bond length [A] and cosine of the angle in which the surfaces are expanded.
inline constexpr double kExpansionLength = 0.958649, kExpansionCosine = -0.24780227221366464506;

/// The energy of a monomer [kcal/mol] (Partridge & Schwenke 1997).
template <class T>
TARN_HD BondFunction<T> monomer_energy(const MonomerBonds<T>& m,
                                       const many_body::SurfaceRows& rows) {
  constexpr double kPerCm = 100 * 6.02214129e23 * 6.62606957e-34 * 299792458 / 4184;  // CODATA 2010
  constexpr double kDepth = 0.999677885 * 42290.92019288289 * kPerCm, kAlpha = 2.587949757553683;
  constexpr double kRepulsion = 0.999677885 * 16.94879431193463 * kPerCm;
  constexpr double kKappa = 12.66426998162947, kMorseLength = 0.9519607159623009;
  constexpr double kInverse = 1.0 / kExpansionLength;

  const T morse1 = exponential(T(kAlpha) * (T(kMorseLength) - m.r1));
  const T morse2 = exponential(T(kAlpha) * (T(kMorseLength) - m.r2));
  const T square = m.r1 * m.r1 + m.r2 * m.r2 - T(2.0) * m.r1 * m.r2 * m.c;  // of the distance H-H
  const T inverse_hh = rsqrt(square);
  const T repulsion = T(kRepulsion) * exponential(T(kKappa) * (T(1.0) - square * inverse_hh));
  const T repulsion_slope = T(-kKappa) * repulsion * inverse_hh;  // divided by the distance

  const T d1 = m.r1 - T(kExpansionLength), d2 = m.r2 - T(kExpansionLength);
  const T damping = T(kPerCm) * exponential(T(-2.0) * (d1 * d1 + d2 * d2));
  BondFunction<T> sum[2];
  sum_rows(rows, T(kInverse) * d1, T(kInverse) * d2, m.c - T(kExpansionCosine), sum);
  const T value = sum[0].value + sum[1].value;
  return {T(kDepth) * (morse1 * (morse1 - T(2.0)) + morse2 * (morse2 - T(2.0))) + repulsion +
              damping * value + T(kPerCm * (2.0 * rows.constant + 0.44739574026257)),
          T(-2.0 * kAlpha * kDepth) * morse1 * (morse1 - T(1.0)) +
              repulsion_slope * (m.r1 - m.r2 * m.c) +
              damping * (T(kInverse) * (sum[0].r1 + sum[1].r1) - T(4.0) * d1 * value),
          T(-2.0 * kAlpha * kDepth) * morse2 * (morse2 - T(1.0)) +
              repulsion_slope * (m.r2 - m.r1 * m.c) +
              damping * (T(kInverse) * (sum[0].r2 + sum[1].r2) - T(4.0) * d2 * value),
          damping * (sum[0].c + sum[1].c) - repulsion_slope * m.r1 * m.r2};
}

/// The charges q1, q2 of the dipole surface [e].
template <class T>
TARN_HD void dipole_surface(const MonomerBonds<T>& m, const many_body::SurfaceRows& rows,
                            BondFunction<T>* q) {
  constexpr double kBohr = 0.52917721092, kExponent = -0.6932, kInverse = 1.0 / kExpansionLength;
  const T d1 = m.r1 - T(kExpansionLength), d2 = m.r2 - T(kExpansionLength);
  const T damping = exponential(-(d1 * d1 + d2 * d2));
  const T power1 = exponential(T(kExponent) * log_near_one(m.r1));
  const T power2 = exponential(T(kExponent) * log_near_one(m.r2));
  const T legendre = T(0.2999 * kBohr) *
                     (T(1.0099 - 0.5 * 0.0892) - T(0.1801) * m.c + T(1.5 * 0.0892) * m.c * m.c);
  const T legendre_slope = T(0.2999 * kBohr) * (T(3.0 * 0.0892) * m.c - T(0.1801));
  const T powers = power1 + power2;
  sum_rows(rows, T(kInverse) * d1, T(kInverse) * d2, m.c - T(kExpansionCosine), q);
  for (int k = 0; k < 2; ++k) {
    const T p = q[k].value;
    q[k].value = T(rows.constant) + damping * p + powers * legendre;
    q[k].r1 = damping * (T(kInverse) * q[k].r1 - T(2.0) * d1 * p) +
              T(kExponent) * power1 * m.inverse_r1 * legendre;
    q[k].r2 = damping * (T(kInverse) * q[k].r2 - T(2.0) * d2 * p) +
              T(kExponent) * power2 * m.inverse_r2 * legendre;
    q[k].c = damping * q[k].c + powers * legendre_slope;
  }
}

// --- pairs of atoms ------------------------------------------------------------------------------

/// -C6 f(delta r)/r^6 with the damping of Tang and Toennies, and its derivative divided by r.
template <class T>
TARN_HD Slope<T> dispersion(const T& r, const T& inverse_r, double c6, double delta) {
  constexpr detail::Series<7> kSeries([](int k) -> double { return k; });
  const T x = T(delta) * r, e = exponential(-x);
  const T f = fnma(e, detail::polynomial(kSeries.c, x), T(1.0));
  const T inverse2 = inverse_r * inverse_r, c = T(-c6) * inverse2 * inverse2 * inverse2;
  const T x2 = x * x, slope = e * (x2 * x2 * x2) * (x * T(1.0 / 720));  // x times that of f
  return {c * f, c * inverse2 * (slope - T(6.0) * f)};
}

/// Thole's damping of multipoles, with u = tau (r/A)^4 = k4 r^4. Undamped: E = 0.
template <class T>
struct Thole {
  T t3, t5, t7;
  T e;  ///< E

  template <bool kDamped>
  static TARN_HD Thole make(const T& square, const T& inverse_r, double k4) {
    const T inverse2 = inverse_r * inverse_r, inverse3 = inverse_r * inverse2;
    const T inverse5 = inverse3 * inverse2, inverse7 = inverse5 * inverse2;
    if constexpr (!kDamped) return {inverse3, inverse5, inverse7, T(0.0)};
    const T u = T(k4) * square * square, e = exponential(-u), ue = u * e;
    const T a = T(1.0) - e, b = fnma(T(4.0 / 3), ue, a);
    const T c = fnma(T(4.0 / 15) * ue, fma(T(4.0), u, T(-1.0)), b);
    return {a * inverse3, b * inverse5, c * inverse7, e};
  }
};

/// exp(v^4) Gamma(3/4, v^4), to 1e-15 of exp(v^4) for 0 <= v <= 2.515; larger v count as that.
/// Where v is larger, exp(-v^4) < 5e-18.
template <class T>
TARN_HD T scaled_incomplete_gamma(const T& v) {
  constexpr double kLimit = 2.515;
  constexpr double kCoefficients[] = {
      0.7384834249788045,     -0.5675722089370584,    0.28716485130826536,
      0.015569533999035972,   -0.21796893702548162,   0.24537597531232064,
      -0.1244553219206521,    -0.03810045911566511,   0.13339393470977176,
      -0.1210227426409784,    0.04041110349546036,    0.03584745486681686,
      -0.060508933430698866,  0.036351752497064536,   0.0019936504085873315,
      -0.0231052017273865,    0.01960741824008265,    -0.004287800324952402,
      -0.006997954198490279,  0.008198372822742597,   -0.003270432609834094,
      -0.0015634377102030318, 0.0032447463984760076,  -0.0018549786684691567,
      -0.000565673450471196,  0.0014622059500454692,  -0.00047752612718735877,
      -0.0004595948292746226, 0.0003393699556445294,  4.6615832482330934e-05,
      -9.428914774772729e-05, 1.0427195132310907e-05, 1.058599637785114e-05,
      -2.599405924323753e-06};
  return detail::polynomial(kCoefficients, fma(min(v, T(kLimit)), T(2.0 / kLimit), T(-1.0)));
}

/// The energy of two unit charges times r, from E = exp(-v^4), v = tau^(1/4) r/A.
template <class T>
TARN_HD T damped_charges(const T& v, const T& e) {
  return fma(e, fma(v, scaled_incomplete_gamma(v), T(-1.0)), T(1.0));
}

// --- models --------------------------------------------------------------------------------------
// Sites of a molecule are O, H1, H2, M, numbered from 0; charges are on H1, H2 and M. Charges and
// dipoles are multiplied by the square root of the Coulomb constant.

/// The number of hydrogens in a pair of sites.
TARN_HD constexpr int hydrogens(int s, int t) {
  return static_cast<int>(s == 1 || s == 2) + static_cast<int>(t == 1 || t == 2);
}
/// The number for pairs with h hydrogens.
TARN_HD constexpr double of_pair(int h, double none, double one, double two) {
  return h == 0 ? none : h == 1 ? one : two;
}

/// MB-pol (TTM4-F): damped, with dipoles on the atoms.
struct MbPol {
  static constexpr bool kIsDamped = true, kIsFlexible = true;
  static constexpr int kPolarSites = 3;
  static constexpr double kRoot = 18.222615317236983;  // of the Coulomb constant, 332.063709
  static constexpr double kWeightOfH = 0.213353441;    // of M; that of O is the rest
  static constexpr double kGamma = 1.0 - 0.426706882, kShare = 0.5 * 0.426706882 / kGamma;
  static constexpr double kChargeOfH = 0.0;  // charges depend on the geometry
  TARN_HD static constexpr bool is_polar(int site) { return site < 3; }
  TARN_HD static constexpr int polar_index(int site) { return site; }
  TARN_HD static constexpr int polar_site(int index) { return index; }
  TARN_HD static constexpr double inverse_polarisability(int site) {
    return site == 0 ? 1.0 / 1.310 : 1.0 / 0.294;
  }
  // By the number of H in a pair of sites: tau/A^4, A^6 = a_i a_j, a = 1.310 (O, M), 0.294 A^3 (H).
  TARN_HD static constexpr double charge_damping(int h) {  // tau = 0.4
    return of_pair(h, 0.2790604330158333, 0.755638784256513, 2.0461158398627726);
  }
  TARN_HD static constexpr double charge_rate(int h) {  // tau^(1/4)/A
    return of_pair(h, 0.7268161451356526, 0.9323491090609639, 1.1960037858054626);
  }
  TARN_HD static constexpr double dipole_damping(int h) {  // tau = 0.055
    return of_pair(h, 0.03837080953967707, 0.10390033283527052, 0.2813409279811312);
  }
  TARN_HD static constexpr double bond_damping(int site) {  // tau = 0.626 for OH
    return site == 0 ? 1.1825746973614426 : dipole_damping(2);
  }
  TARN_HD static constexpr bool has_attraction(int s, int t) { return s < 3 && t < 3; }
  template <class T>
  TARN_HD static Slope<T> attraction(const T& r, const T& inverse_r, int h) {
    return dispersion(r, inverse_r,
                      of_pair(h, 237.32122131931163, 83.49556668260037, 20.09358599426386),
                      of_pair(h, 9.29548582, 9.77520243, 9.40647517));
  }
};

/// Dang-Chang 1997: rigid, undamped, one dipole on M.
struct DangChang {
  static constexpr bool kIsDamped = false, kIsFlexible = false;
  static constexpr int kPolarSites = 1;
  static constexpr double kRoot = 18.222615435222245;        // of the Coulomb constant, 332.0637133
  static constexpr double kWeightOfH = 0.18348395964542336;  // 0.215 A/(2 0.9572 A cos(52.26 deg))
  static constexpr double kChargeOfH = 0.519;
  static constexpr double kGamma = 1.0, kShare = 0.0;  // charges are constant
  TARN_HD static constexpr bool is_polar(int site) { return site == 3; }
  TARN_HD static constexpr int polar_index(int) { return 0; }
  TARN_HD static constexpr int polar_site(int) { return 3; }
  TARN_HD static constexpr double inverse_polarisability(int) { return 1.0 / 1.444; }
  TARN_HD static constexpr double charge_damping(int) { return 0.0; }
  TARN_HD static constexpr double charge_rate(int) { return 0.0; }
  TARN_HD static constexpr double dipole_damping(int) { return 0.0; }
  TARN_HD static constexpr double bond_damping(int) { return 0.0; }
  TARN_HD static constexpr bool has_attraction(int s, int t) { return s == 0 && t == 0; }
  template <class T>
  TARN_HD static Slope<T> attraction(const T&, const T& inverse_r, int) {  // Lennard-Jones
    constexpr double kEpsilon = 0.1825, kSigma2 = 3.234 * 3.234;
    const T inverse2 = inverse_r * inverse_r, ratio2 = T(kSigma2) * inverse2;
    const T ratio6 = ratio2 * ratio2 * ratio2;
    return {T(4.0 * kEpsilon) * ratio6 * (ratio6 - T(1.0)),
            T(-24.0 * kEpsilon) * ratio6 * (T(2.0) * ratio6 - T(1.0)) * inverse2};
  }
};

/// Whether a pair of sites has a term of charge and dipole.
template <class Model>
TARN_HD constexpr bool has_field(int s, int t) {
  return (s != 0 && Model::is_polar(t)) || (t != 0 && Model::is_polar(s));
}

/// Charges of a molecule, and what they and its energy depend on.
template <class T>
struct Monomer {
  BondFunction<T> energy, surface[2];  ///< of flexible models
};
/// Arrays over the molecules of an image, one after another.
template <class T>
struct SiteArrays {
  Vec3<T>*site, *gradient;  // [molecule][4]
  Vec3<T>*field, *dipole;   // [molecule][polar site]
  T *charge, *potential;    // [molecule][4]; those of O are not used
  Monomer<T>* monomer;      // [molecule]

  TARN_HD SiteArrays(void* memory, int n)
      : site(static_cast<Vec3<T>*>(memory)),
        gradient(site + 4 * n),
        field(gradient + 4 * n),
        dipole(field + 3 * n),
        charge(reinterpret_cast<T*>(dipole + 3 * n)),
        potential(charge + 4 * n),
        monomer(reinterpret_cast<Monomer<T>*>(potential + 4 * n)) {}
};
/// Computes the site M and the charges of a molecule. @param site O, H1, H2, then M (out)
template <class Model, class T>
TARN_HD void place_charges(const many_body::SurfaceRows& energy_rows,
                           const many_body::SurfaceRows& charge_rows, Vec3<T>* site, T* q,
                           Monomer<T>& m) {
  site[3] = fma(T(Model::kWeightOfH), (site[1] - site[0]) + (site[2] - site[0]), site[0]);
  if constexpr (Model::kIsFlexible) {
    const MonomerBonds<T> bonds(site[0], site[1], site[2]);
    m.energy = monomer_energy(bonds, energy_rows);
    dipole_surface(bonds, charge_rows, m.surface);
    const T sum = m.surface[0].value + m.surface[1].value;
    q[1] = T(Model::kRoot) * fma(T(Model::kShare), sum, m.surface[0].value);
    q[2] = T(Model::kRoot) * fma(T(Model::kShare), sum, m.surface[1].value);
    q[3] = T(-Model::kRoot / Model::kGamma) * sum;
  } else {
    q[1] = q[2] = T(Model::kRoot * Model::kChargeOfH);
    q[3] = T(-2.0 * Model::kRoot * Model::kChargeOfH);
  }
}
/// Moves the gradient of M to the atoms, and adds that of the charges and of the energy.
/// @param potential at the charges @param g of O, H1, H2 and M
template <class Model, class T>
TARN_HD void gather_monomer(const Vec3<T>* site, const T* potential, const Monomer<T>& m,
                            Vec3<T>* g) {
  for (int k = 0; k < 3; ++k) {
    g[k] = fma(T(k == 0 ? 1.0 - 2.0 * Model::kWeightOfH : Model::kWeightOfH), g[3], g[k]);
  }
  if constexpr (Model::kIsFlexible) {
    const T both =
        fma(T(Model::kShare), potential[1] + potential[2], T(-1.0 / Model::kGamma) * potential[3]);
    const T by1 = T(Model::kRoot) * (potential[1] + both);
    const T by2 = T(Model::kRoot) * (potential[2] + both);
    const BondFunction<T>*const q = m.surface, &e = m.energy;
    add_bond_gradient(MonomerBonds<T>(site[0], site[1], site[2]),
                      fma(by1, q[0].r1, fma(by2, q[1].r1, e.r1)),
                      fma(by1, q[0].r2, fma(by2, q[1].r2, e.r2)),
                      fma(by1, q[0].c, fma(by2, q[1].c, e.c)), g[0], g[1], g[2]);
  }
}

/// The dipole equations' block of two sites at distance d.
template <class T>
TARN_HD void dipole_block(const Thole<T>& t, const Vec3<T>& d, T (*out)[3]) {
  const T v[] = {d.x, d.y, d.z}, t5 = T(-3.0) * t.t5;
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < 3; ++l) out[k][l] = fma(t5 * v[k], v[l], k == l ? t.t3 : T(0.0));
  }
}
/// The gradient by d of the energy of two dipoles, d from the first to the second.
template <class T>
TARN_HD Vec3<T> dipole_gradient(const Thole<T>& t, const Vec3<T>& d, const Vec3<T>& first,
                                const Vec3<T>& second) {
  const T along1 = dot(d, first), along2 = dot(d, second);
  const T radial = T(15.0) * t.t7 * along1 * along2 - T(3.0) * t.t5 * dot(first, second);
  return fma(radial, d, T(-3.0) * t.t5 * fma(along2, first, along1 * second));
}

/// Adds the energies of sites s and t of different molecules, and the potentials at their charges.
/// @param d from s to t @param qs charge, ms dipole, vs potential of s; unused where s has none
/// @return the gradient by d of all energies, for given dipoles
template <class Model, class T>
TARN_HD Vec3<T> add_site_pair(int s, int t, const Vec3<T>& d, const T& qs, const T& qt,
                              const Vec3<T>& ms, const Vec3<T>& mt, T& vs, T& vt, T& coulomb,
                              T& attraction) {
  const T square = norm2(d), inverse_r = rsqrt(square);
  const int h = hydrogens(s, t);
  T radial = T(0.0);
  Vec3<T> g = {T(0.0), T(0.0), T(0.0)};
  const bool charges = s != 0 && t != 0;
  if (charges || has_field<Model>(s, t)) {
    const auto damped =
        Thole<T>::template make<Model::kIsDamped>(square, inverse_r, Model::charge_damping(h));
    if (charges) {
      T t1 = inverse_r;
      if constexpr (Model::kIsDamped) {
        t1 = t1 * damped_charges(T(Model::charge_rate(h)) * square * inverse_r, damped.e);
      }
      coulomb = fma(qs * qt, t1, coulomb);
      vs = fma(qt, t1, vs);
      vt = fma(qs, t1, vt);
      radial = -(qs * qt) * damped.t3;
    }
    if (t != 0 && Model::is_polar(s)) {
      const T along = dot(d, ms), q3 = qt * damped.t3;
      vt = fma(damped.t3, along, vt);
      radial = fnma(T(3.0) * qt * damped.t5, along, radial);
      g = fma(q3, ms, g);
    }
    if (s != 0 && Model::is_polar(t)) {
      const T along = dot(d, mt), q3 = qs * damped.t3;
      vs = fnma(damped.t3, along, vs);
      radial = fma(T(3.0) * qs * damped.t5, along, radial);
      g = fnma(q3, mt, g);
    }
  }
  if (Model::is_polar(s) && Model::is_polar(t)) {
    const auto damped =
        Thole<T>::template make<Model::kIsDamped>(square, inverse_r, Model::dipole_damping(h));
    g = g + dipole_gradient(damped, d, ms, mt);
  }
  if (Model::has_attraction(s, t)) {
    const Slope<T> pair = Model::attraction(square * inverse_r, inverse_r, h);
    attraction = attraction + pair.value;
    radial = radial + pair.derivative;
  }
  return fma(radial, d, g);
}

// --- polynomials ---------------------------------------------------------------------------------
// Sites of a dimer are O, H1, H2 and two lone pairs of each molecule, those of a trimer the atoms.

/// A variable at the distance d of its sites, and its derivative by the distance, divided by it.
template <class T>
TARN_HD Slope<T> variable_at(const many_body::Variable& v, const Vec3<T>& d) {
  const T square = norm2(d), inverse_r = rsqrt(square);
  const T divisor = fma(T(v.by_r), inverse_r, T(1.0 - v.by_r));
  const T x = exponential(fnma(T(v.k), square * inverse_r, T(v.offset))) * divisor;
  return {x, fnma(T(v.by_r), inverse_r, T(-v.k)) * inverse_r * x};
}

/// Sums and differences of the variables of an orbit; divided by its size, they are s.
template <class T>
TARN_HD void add_and_subtract(T* x, int size) {
  if (size == 1) return;
  const T a = x[0] + x[1], b = x[0] - x[1];
  x[0] = a;
  x[1] = b;
  if (size == 2) return;
  const T c = x[2] + x[3], d = x[2] - x[3];
  x[0] = a + c;
  x[1] = b + d;
  x[2] = a - c;
  x[3] = b - d;
}

/// Lone pairs O + g (OH1 + OH2)/2 +- h OH1 x OH2.
inline constexpr double kLonePairInPlane = -0.09721486914088159 / 2;
inline constexpr double kLonePairOutOfPlane = 0.0985927207840615;
/// @param site O, H1, H2 of a molecule, then the lone pairs (out)
template <class T>
TARN_HD void place_lone_pairs(Vec3<T>* site) {
  const Vec3<T> d1 = site[1] - site[0], d2 = site[2] - site[0];
  const Vec3<T> middle = fma(T(kLonePairInPlane), d1 + d2, site[0]);
  const Vec3<T> normal = T(kLonePairOutOfPlane) * cross(d1, d2);
  site[3] = middle + normal;
  site[4] = middle - normal;
}
/// Moves the gradient from the lone pairs of a molecule to its atoms.
template <class T>
TARN_HD void spread_lone_pairs(const Vec3<T>* site, Vec3<T>* g) {
  const Vec3<T> d1 = site[1] - site[0], d2 = site[2] - site[0];
  const Vec3<T> sum = g[3] + g[4], difference = T(kLonePairOutOfPlane) * (g[3] - g[4]);
  const Vec3<T> g1 = fma(T(kLonePairInPlane), sum, cross(d2, difference));
  const Vec3<T> g2 = fma(T(kLonePairInPlane), sum, cross(difference, d1));
  g[0] = g[0] + (sum - g1 - g2);
  g[1] = g[1] + g1;
  g[2] = g[2] + g2;
}

template <int kBodies>
inline constexpr int kPolynomialSites = kBodies == 2 ? 5 : 3;  // of a molecule

/// The switch of a dimer or trimer and its gradient, times the energy before it: adds these to the
/// gradient.
/// @return the switch
template <int kBodies, class T>
TARN_HD T add_switch(const Vec3<T>* site, const T& energy, Vec3<T>* g) {
  constexpr int kPairs = kBodies == 2 ? 1 : 3, kSites = kPolynomialSites<kBodies>;
  Slope<T> s[3];
  Vec3<T> along[3];
  // Pairs of molecules (0, 1), (0, 2), (1, 2).
  const auto first = [](int k) { return kSites * (k / 2); };
  const auto second = [](int k) { return kSites * (k == 0 ? 1 : 2); };
  for (int k = 0; k < kPairs; ++k) {
    const Vec3<T> d = site[second(k)] - site[first(k)];
    const T square = norm2(d), inverse_r = rsqrt(square);
    s[k] = kBodies == 2
               ? switch_off(square * inverse_r, many_body::kDimerSwitch, many_body::kDimerLimit)
               : switch_off(square * inverse_r, 0.0, many_body::kTrimerLimit);
    along[k] = inverse_r * d;
  }
  T value = s[0].value;
  for (int k = 0; k < kPairs; ++k) {
    T slope = s[k].derivative;
    if constexpr (kBodies == 3) slope = slope * (s[(k + 1) % 3].value + s[(k + 2) % 3].value);
    const Vec3<T> force = (energy * slope) * along[k];
    g[second(k)] = g[second(k)] + force;
    g[first(k)] = g[first(k)] - force;
  }
  if constexpr (kBodies == 3) {
    value = fma(s[0].value, s[1].value, s[2].value * (s[0].value + s[1].value));
  }
  return value;
}

}  // namespace tarn::inline TARN_ARCH
