#pragma once

#include <bit>

#include "full_product.hpp"
#include "physics/molecule_solve.hpp"
#include "physics/noise.hpp"
#include "plain_water.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/minimise.hpp"
#include "tarn/physics/isotopes.hpp"
#include "water_fixtures.hpp"

/// @file
/// Systems, start states and reference forces for the tests of whole engines.

namespace tarn::test {

// --- test parameters ---------------------------------------------------------------------------

enum class Bath { none, gla, gla_per_mass, baoab, baoab_per_mass };

/// A scheme and a thermostat; the name is part of the test's name.
struct EngineCase {
  std::string scheme;
  Bath bath = Bath::none;
  bool isotopes = false;

  std::string name() const {
    constexpr const char* baths[] = {"none", "gla", "gla_per_mass", "baoab", "baoab_per_mass"};
    return scheme + "_" + baths[static_cast<int>(bath)] + (isotopes ? "_isotopes" : "");
  }
  friend std::ostream& operator<<(std::ostream& out, const EngineCase& c) {
    return out << c.name();
  }
};

inline const std::vector<std::string> kSchemeNames{
    "zss_structured", "zss_dense",      "zss_infinite", "zss_full", "verlet",
    "shake",          "shake_sweeps",   "rattle",       "settle",   "zss_molecule",
    "zss_total",      "zss_full_dense", "pushforward",  "one_step"};

inline const std::vector<std::string> kFlexibleSchemeNames{"flexible_verlet", "flexible_zss"};
inline bool is_flexible_scheme(const std::string& scheme) { return scheme.starts_with("flexible"); }

/// The model itself or, for a flexible scheme, a flexible one with as many sites: all forms of the
/// stretch occur.
inline WaterModel model_for(const std::string& scheme, const WaterModel& model) {
  if (!is_flexible_scheme(scheme)) return model;
  if (!model.has_m_site()) return *find_water_model("spcfw");
  return *find_water_model(scheme == "flexible_verlet" ? "qtip4pf" : "tip4p2005f");
}

/// Largest number of molecules for a scheme: dense factorisations of the whole Hessian and second
/// derivatives of all pairs are slow, and are tested with small clusters.
inline int most_molecules(const std::string& scheme) {
  return scheme == "zss_total" ? 17 : scheme == "zss_molecule" ? 100 : 1000;
}

/// Whether a scheme is tested with all sizes: one with a penalty and one with constraints.
inline bool has_all_sizes(const std::string& scheme) {
  return covers_everything() || scheme == "zss_structured" || scheme == "settle";
}

/// The sizes among `all` with which a scheme is tested: all for one penalty scheme and one
/// constraint scheme; for the others one per memory layout and pair loop, and small ones where
/// forces are computed several times per step.
inline std::vector<int> sizes_for(const std::string& scheme, const std::vector<int>& all) {
  if (has_all_sizes(scheme)) return all;
  const bool slow = scheme == "zss_molecule" || scheme == "pushforward";
  const int limit = std::min(slow ? 17 : 100, most_molecules(scheme));
  std::vector<int> sizes;
  for (const int n : all) {
    if (n > limit) continue;
    if (sizes.size() > 1 && sizes.back() > 33) sizes.pop_back();
    if (n == 7 || n == 33 || n > 64 || (n == 17 && limit == 17)) sizes.push_back(n);
  }
  return sizes;
}

/// Every scheme with and without a thermostat, without rare combinations.
inline std::vector<EngineCase> engine_cases() {
  std::vector<EngineCase> cases;
  for (const std::string& scheme : kSchemeNames) {
    const bool common = scheme == "zss_structured" || scheme == "zss_infinite" ||
                        scheme == "shake" || scheme == "settle";
    cases.push_back({scheme, Bath::gla_per_mass});
    if (common || scheme == "zss_full") cases.push_back({scheme, Bath::none});
    if (common || scheme == "zss_dense") cases.push_back({scheme, Bath::gla});
    if (common || scheme == "verlet" || scheme == "pushforward") {
      cases.push_back({scheme, Bath::baoab});
    }
    if (common || scheme == "rattle") cases.push_back({scheme, Bath::baoab_per_mass});
  }
  for (const std::string& scheme : kFlexibleSchemeNames) {
    for (const Bath bath : {Bath::none, Bath::gla_per_mass, Bath::baoab}) {
      cases.push_back({scheme, bath});
    }
  }
  return cases;
}

/// Each scheme once with isotopes, and each thermostat with rigid and with penalised bonds.
inline std::vector<EngineCase> isotope_cases() {
  std::vector<EngineCase> cases;
  for (const auto* names : {&kSchemeNames, &kFlexibleSchemeNames}) {
    for (const std::string& scheme : *names) cases.push_back({scheme, Bath::gla_per_mass, true});
  }
  for (const char* scheme : {"settle", "zss_structured"}) {
    for (const Bath bath : {Bath::none, Bath::gla, Bath::baoab, Bath::baoab_per_mass}) {
      cases.push_back({scheme, bath, true});
    }
  }
  return cases;
}

struct EngineCaseName {
  std::string operator()(const ::testing::TestParamInfo<EngineCase>& info) const {
    return info.param.name();
  }
};

inline const char* name_of(Precision p) {
  return p == Precision::double_ ? "double" : p == Precision::mixed ? "mixed" : "single";
}

/// A scheme by its name; velocity Verlet gets a step for which it is stable.
inline IntegratorSpec integrator(const std::string& scheme, double timestep_akma = 0.05,
                                 double omega = 100.0) {
  static const std::map<std::string, Scheme> schemes{
      {"pushforward", Scheme::pushforward_newmark},
      {"pushforward_infinite", Scheme::pushforward_newmark},
      {"one_step", Scheme::newmark_one_step},
      {"one_step_full", Scheme::newmark_one_step},
      {"verlet", Scheme::verlet},
      {"flexible_verlet", Scheme::verlet},
      {"shake", Scheme::shake},
      {"shake_sweeps", Scheme::shake},
      {"rattle", Scheme::rattle},
      {"settle", Scheme::settle}};
  IntegratorSpec i;
  i.timestep_akma = timestep_akma;
  i.omega = scheme.ends_with("_infinite") ? std::numeric_limits<double>::infinity() : omega;
  if (const auto at = schemes.find(scheme); at != schemes.end()) i.scheme = at->second;
  if (scheme.ends_with("_dense")) i.solver = Solver::dense;
  if (scheme == "zss_molecule") i.hessian = Hessian::molecule;
  if (scheme == "zss_total") i.hessian = Hessian::total;
  if (scheme.find("_full") != std::string::npos) i.hessian = Hessian::full;
  if (i.hessian != Hessian::gauss_newton && scheme.starts_with("zss")) {
    i.omega = std::min(omega, 10.0);  // so soft that the matrix is definite at 300 K
  }
  if (i.scheme == Scheme::newmark_one_step) {
    i.timestep_akma = std::min(timestep_akma, 0.2 / omega);  // longer ones blow up at 300 K
  }
  if (scheme == "verlet") i.timestep_akma = std::min(timestep_akma, 0.4 / omega);
  if (scheme == "flexible_verlet") i.timestep_akma = std::min(timestep_akma, 0.01);
  if (scheme == "shake_sweeps") i.iteration = ShakeIteration::sweeps;
  return i;
}

/// All precisions of a scheme.
inline std::vector<Precision> precisions_of(const std::string& scheme) {
  std::vector<Precision> all{Precision::double_, Precision::mixed};
  if (supports_single_precision(integrator(scheme))) all.push_back(Precision::single);
  return all;
}

inline std::vector<Precision> precisions_of(const EngineCase& c) {
  std::vector<Precision> all = precisions_of(c.scheme);
  if (c.isotopes) std::erase(all, Precision::single);
  return all;
}

/// Friction of 0.25 per akma unit (5/ps) for all atoms, or for the hydrogens and by mass.
inline ThermostatSpec thermostat(Bath bath, double temperature_K, double rate_per_akma = 0.25) {
  ThermostatSpec t;
  if (bath == Bath::none) return t;
  const bool gla = bath == Bath::gla || bath == Bath::gla_per_mass;
  t.kind = gla ? Thermostat::gla : Thermostat::baoab;
  t.temperature_K = temperature_K;
  t.friction_hydrogen_per_akma = rate_per_akma;
  t.friction_oxygen_per_akma = rate_per_akma;
  if (bath == Bath::gla_per_mass || bath == Bath::baoab_per_mass) {
    t.friction_oxygen_per_akma *= units::mass_hydrogen_Da / units::mass_oxygen_Da;
  }
  return t;
}

/// Molecules of all isotopes by turns; a single one is HDO.
inline std::vector<std::array<double, 3>> mixed_isotopes(int molecules) {
  std::vector<std::array<double, 3>> all;
  for (int k = 0; k < molecules; ++k) {
    constexpr const char* names[] = {"HDO", "D2O18", "H2O", "DTO17", "HTO", "T2O", "HDO18"};
    all.push_back(*isotope_masses_Da(names[k % 7]));
  }
  return all;
}
inline double mass_of(const System& s, int molecule, int atom) {
  return ClusterMasses(s).atom_Da(static_cast<std::size_t>(molecule),
                                  static_cast<std::size_t>(atom));
}

/// The cases with friction by mass also have the other features of a system: a wall with some
/// molecules outside, and temperatures by replica.
inline System make_system(const EngineCase& c, const WaterModel& model, int molecules,
                          Precision precision = Precision::double_) {
  System s;
  s.model = model_for(c.scheme, model);
  s.molecules = molecules;
  s.integrator = integrator(c.scheme);
  s.thermostat = thermostat(c.bath, 300.0);
  if (c.bath == Bath::gla_per_mass || c.bath == Bath::baoab_per_mass) {
    s.confinement = {2.5, 5.0};
    s.thermostat.temperatures_K = {300.0, 150.0, 450.0};
  }
  s.seed = 20;
  s.precision = precision;
  if (c.isotopes) s.atom_masses_Da = mixed_isotopes(molecules);
  return s;
}

inline WaterModel tip4p() { return *find_water_model("tip4p"); }

// --- start states ------------------------------------------------------------------------------

/// Velocities of Maxwell's distribution; `tangent` projects them onto the constraints.
inline std::vector<double> maxwell(const WaterModel& model, std::span<const double> x,
                                   double temperature_K, std::uint64_t seed, std::int64_t id,
                                   bool tangent) {
  std::vector<double> v(x.size());
  const double kT = units::boltzmann_kcal_per_mol_K * temperature_K;
  for (std::size_t m = 0; m < x.size() / 9; ++m) {
    const MoleculeNormals z =
        molecule_normals(seed, static_cast<std::uint64_t>(id), m, 0, NoiseStream::start_velocities);
    std::array<double, 9> u, c;
    for (std::size_t k = 0; k < 9; ++k) {
      u[k] = z.xi[k] * std::sqrt(kT / model.mass_Da(static_cast<int>(k) / 3));
      c[k] = x[9 * m + k];
    }
    if (tangent) u = to_array(project_velocities(to_triple(c), to_triple(u), masses(model)));
    std::copy(u.begin(), u.end(), v.begin() + static_cast<std::ptrdiff_t>(9 * m));
  }
  return v;
}

inline void append(std::span<const double> from, std::vector<double>& to) {
  for (double v : from) to.push_back(v);
}

/// Rigid molecules turned at random near the points of a cubic lattice: no two atoms of different
/// molecules are nearer than 1 A.
inline std::vector<double> lattice_cluster(const WaterModel& model, int molecules,
                                           std::uint64_t seed) {
  Random random(seed);
  const int side = static_cast<int>(std::ceil(std::cbrt(molecules)));
  std::vector<double> x;
  for (int m = 0; m < molecules; ++m) {
    const Vec3<double> at{3.2 * (m % side), 3.2 * (m / side % side), 3.2 * (m / (side * side))};
    const Triple<double> t = random_molecule(model, random, 0.1);
    append(to_array(Triple<double>{t.o + at, t.h1 + at, t.h2 + at}), x);
  }
  return x;
}

/// One lattice cluster and one set of velocities at 300 K for each id, independent of its position
/// in the batch.
inline State start_state(const System& system, const std::vector<std::int64_t>& ids,
                         std::int64_t step = 0) {
  State s;
  s.molecules = system.molecules;
  s.step = step;
  s.replica_ids = ids;
  const bool tangent = is_rigid(system.integrator.scheme);
  for (std::int64_t id : ids) {
    const std::vector<double> x =
        lattice_cluster(system.model, system.molecules, static_cast<std::uint64_t>(id) + 1);
    append(x, s.positions_A);
    append(maxwell(system.model, x, 300.0, 1, id, tangent), s.velocities_A_per_akma);
  }
  return s;
}

/// A state whose heat is tallied, from some heat on.
inline State tallied(State s) {
  for (int k = 0; k < s.replicas() * s.molecules; ++k) {
    s.heat_kcal_per_mol.push_back(0.1 * (k % s.molecules));
  }
  return s;
}

/// Instruction sets with different results: variants of one set, whose names have a hyphen, give
/// the same bits and are omitted.
inline std::vector<std::string> different_instruction_sets() {
  const auto of_order = [](const std::string& set) { return set.substr(0, set.find('-')); };
  std::vector<std::string> sets;
  for (const std::string& set : cpu_instruction_sets()) {
    if (sets.empty() || of_order(sets.back()) != of_order(set)) sets.push_back(set);
  }
  return sets;
}

/// Ids 3, 10, 17, ..., which differ from the indices in the batch.
inline std::vector<std::int64_t> spread_ids(int replicas) {
  std::vector<std::int64_t> ids;
  for (int r = 0; r < replicas; ++r) ids.push_back(7 * r + 3);
  return ids;
}

/// tests/data/structures/tip3p-<molecules>.xyz as 9 N numbers.
inline std::vector<double> reference_positions(int molecules) {
  std::vector<double> x;
  for (const Triple<double>& t : reference_cluster("tip3p-" + std::to_string(molecules) + ".xyz")) {
    append(to_array(t), x);
  }
  return x;
}

/// The lowest minimum of seven TIP3P molecules: of V0 for rigid bonds and infinite omega, of
/// V0 + V1 otherwise.
inline std::vector<double> minimum_of_seven(const IntegratorSpec& integrator) {
  std::vector<double> x = reference_positions(7);
  ForceField force_field(tip3p(), 7);
  if (!is_rigid(integrator.scheme) && std::isfinite(integrator.omega)) {
    EXPECT_TRUE(relax_penalised(force_field, integrator.omega, x, {1e-9, 5000})
                    .max_gradient_kcal_per_mol_A < 1e-5);
  }
  return x;
}

/// Replicas 0 .. n-1 with the same configuration and different velocities.
inline State replicas_at(const WaterModel& model, const std::vector<double>& x, int replicas,
                         double temperature_K, std::uint64_t seed, bool tangent) {
  State s;
  s.molecules = static_cast<int>(x.size() / 9);
  for (int r = 0; r < replicas; ++r) {
    s.replica_ids.push_back(r);
    append(x, s.positions_A);
    append(maxwell(model, x, temperature_K, seed, r, tangent), s.velocities_A_per_akma);
  }
  return s;
}

/// The cold start: seven TIP3P molecules at the minimum of the scheme's potential, with velocities
/// of 10 K that satisfy the constraints.
inline State cold_start(const IntegratorSpec& integrator, std::uint64_t seed = 1) {
  return replicas_at(tip3p(), minimum_of_seven(integrator), 1, 10.0, seed, true);
}
inline System cold_system(const IntegratorSpec& integrator) {
  System s;
  s.model = tip3p();
  s.molecules = 7;
  s.integrator = integrator;
  return s;
}

// --- contents of an engine ---------------------------------------------------------------------

using Bits = std::vector<std::uint64_t>;

inline void append_bits(std::span<const double> numbers, Bits& bits) {
  for (double v : numbers) bits.push_back(std::bit_cast<std::uint64_t>(v));
}

/// The members of a struct that consists of doubles.
template <class T>
std::vector<double> numbers_of(const T& s) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(double) == 0);
  std::vector<double> numbers(sizeof(T) / sizeof(double));
  std::memcpy(numbers.data(), &s, sizeof(T));
  return numbers;
}

/// All results of each replica, for bitwise comparison: state, reported positions and velocities,
/// energies, conserved quantities and heat.
inline std::map<std::int64_t, Bits> bits_by_replica(Engine& engine) {
  std::map<std::int64_t, Bits> all;
  const State s = engine.state();
  const std::size_t size = s.coordinates();
  for (std::size_t r = 0; r < s.replica_ids.size(); ++r) {
    Bits& bits = all[s.replica_ids[r]];
    append_bits({&s.positions_A[r * size], size}, bits);
    append_bits({&s.velocities_A_per_akma[r * size], size}, bits);
    if (s.heat_kcal_per_mol.empty()) continue;
    append_bits({&s.heat_kcal_per_mol[r * size / 9], size / 9}, bits);
  }
  Frame f;
  engine.snapshot(kPositions | kVelocities | kEnergies | kConservation | kHeat, f);
  for (std::size_t r = 0; r < f.replica_ids.size(); ++r) {
    Bits& bits = all[f.replica_ids[r]];
    append_bits({&f.positions_A[r * size], size}, bits);
    append_bits({&f.velocities_A_per_akma[r * size], size}, bits);
    const Energies& e = f.energies[r];
    const Conservation& c = f.conservation[r];
    append_bits(std::array{e.potential_kcal_per_mol, e.bond_kcal_per_mol, e.kinetic_kcal_per_mol,
                           e.total_kcal_per_mol, e.temperature_K, c.energy_kcal_per_mol,
                           c.constraint_max_A2, f.heat_kcal_per_mol[r]},
                bits);
    append_bits(c.momentum_Da_A_per_akma, bits);
    append_bits(c.angular_momentum_Da_A2_per_akma, bits);
  }
  return all;
}

inline ::testing::AssertionResult same_bits(const Bits& a, const Bits& b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << "sizes differ";
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] != b[k]) {
      return ::testing::AssertionFailure()
             << "number " << k << " of " << a.size() << ": " << std::bit_cast<double>(a[k])
             << " and " << std::bit_cast<double>(b[k]) << ", which differ by "
             << std::bit_cast<double>(a[k]) - std::bit_cast<double>(b[k]);
    }
  }
  return ::testing::AssertionSuccess();
}
inline ::testing::AssertionResult same_bits(const std::map<std::int64_t, Bits>& a,
                                            const std::map<std::int64_t, Bits>& b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << "replicas differ";
  for (const auto& [id, bits] : a) {
    if (!b.contains(id)) return ::testing::AssertionFailure() << "replica " << id << " is missing";
    if (const auto result = same_bits(bits, b.at(id)); !result) {
      return ::testing::AssertionFailure() << "replica " << id << ": " << result.message();
    }
  }
  return ::testing::AssertionSuccess();
}

/// True if every number of a Frame is finite.
inline bool all_finite(const Frame& f) {
  const auto finite = [](std::span<const double> numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](double v) { return std::isfinite(v); });
  };
  bool good = finite(f.positions_A) && finite(f.velocities_A_per_akma);
  for (const Energies& e : f.energies) good = good && finite(numbers_of(e));
  for (const Conservation& c : f.conservation) good = good && finite(numbers_of(c));
  return good;
}

// --- forces ------------------------------------------------------------------------------------

/// A system whose reported positions contain the forces: with negligible bonds and b h^2 = 1 the
/// reported position is q = x + F0/m, to rounding.
inline System system_that_shows_forces(const WaterModel& model, int molecules,
                                       Precision precision) {
  System s;
  s.model = model;
  s.molecules = molecules;
  s.precision = precision;
  s.integrator.beta = 0.25;
  s.integrator.timestep_akma = 2.0;
  // The solve cubes 1/(b h^2 omega^2), for which floats have room up to 1e38.
  s.integrator.omega = precision == Precision::single ? 1e-5 : 1e-12;
  return s;
}
/// Forces of the only replica of an engine made of such a system.
inline std::vector<double> forces_shown(Engine& engine, const WaterModel& model) {
  Frame f;
  engine.snapshot(kPositions, f);
  const State s = engine.state();
  std::vector<double> forces(s.positions_A.size());
  EXPECT_EQ(f.positions_A.size(), forces.size());
  f.positions_A.resize(forces.size());
  for (std::size_t k = 0; k < forces.size(); ++k) {
    forces[k] = model.mass_Da(static_cast<int>(k) % 9 / 3) * (f.positions_A[k] - s.positions_A[k]);
  }
  return forces;
}

template <class A>
double norm(const A& a) {
  Real size = 0;
  for (const auto& number : a) size += number * number;
  return static_cast<double>(std::sqrt(size));
}
/// rms of a - b over rms of b.
template <class A, class B>
double relative_rms(const A& a, const B& b) {
  Real difference = 0, size = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    difference += (a[k] - b[k]) * (a[k] - b[k]);
    size += b[k] * b[k];
  }
  return static_cast<double>(std::sqrt(difference / size));
}

}  // namespace tarn::test
