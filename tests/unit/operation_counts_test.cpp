#include "counting.hpp"
#include "document_table.hpp"
#include "kernels/layout.hpp"
#include "physics/noise.hpp"
#include "physics/pair_force.hpp"
#include "steps/ring_measure.hpp"
#include "steps/step_program.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"

/// @file
/// Compares the number of operations of each formula with the table in docs/operations.md. The test
/// detects a change of the cost on any machine and prints the new table. A change that alters the
/// table updates it and states the reason.

namespace tarn {
namespace {

using namespace test;
using N = Counted<double>;

struct Row {
  std::string name;
  Operations cost;
};

Triple<N> triple(double shift) {
  const WaterModel model = *find_water_model("tip3p");
  const double half = 0.5 * model.r_hh_A();
  const double height = std::sqrt(model.r_oh_A * model.r_oh_A - half * half);
  return {{N(shift), N(0.0), N(0.1 * shift)},
          {N(shift + half), N(height), N(0.1 * shift)},
          {N(shift - half), N(height), N(0.1 * shift)}};
}
Triple<N> small_triple(double size) {
  return {{N(size), N(-size), N(0.5 * size)},
          {N(-2.0 * size), N(size), N(size)},
          {N(size), N(size), N(-size)}};
}

template <bool kMSite>
void add_pair_rows(const char* model_name, std::vector<Row>& rows) {
  const PairParameters<double> p = pair_parameters<double>(*find_water_model(model_name));
  const std::string sites = kMSite ? "four sites" : "three sites";
  const N w(p.m_weight);
  const SiteOffsets<N> i = site_offsets<kMSite>(triple(0.0), w);
  const SiteOffsets<N> j = site_offsets<kMSite>(triple(3.0), w);
  const Vec3<N> r{N(3.0), N(0.0), N(0.3)};
  SiteForces<N> f_i{}, f_j{};
  rows.push_back({"pair force, " + sites,
                  count([&] { add_pair_forces<kMSite>(p, r, i, j, AllLanes{}, f_i, f_j); })});
  N coulomb(0.0), lj(0.0);
  rows.push_back({"pair energy, " + sites,
                  count([&] { add_pair_energy<kMSite>(p, r, i, j, AllLanes{}, coulomb, lj); })});
  const Triple<N> x = triple(0.0);
  rows.push_back({"sites of a molecule, " + sites, count([&] {
                    (void)site_offsets<kMSite>(x, w);
                    (void)forces_on_atoms<kMSite>(f_i, w);
                  })});
}

/// A molecule at the beginning of a step, and the numbers of the step.
struct Molecule {
  System system;
  StepParameters q;
  MoleculeState<N> s;
  Triple<N> f = small_triple(5.0), xi = small_triple(0.7);

  explicit Molecule(double tolerance = 1e-8) {
    system.model = *find_water_model("tip3p");
    system.integrator.timestep_akma = 0.04;
    system.integrator.tolerance = tolerance;
    system.thermostat = {Thermostat::gla, 10.0, {}, 0.25, 0.25};
    q = step_parameters(system);
    s = {triple(0.0), small_triple(0.02), small_triple(0.1)};
  }
};

Operations of_begin(Move move, double tolerance = 1e-8, int* iterations = nullptr) {
  Molecule m(tolerance);
  return count([&] {
    const StepStatus<N> status = begin_step(m.q, move, m.s);
    if (iterations != nullptr) *iterations = static_cast<int>(status.iterations.v);
  });
}
Operations of_baoab(Move move) {
  Molecule m;
  Triple<N> v;
  return count([&] { begin_baoab(m.q, move, m.xi, N(1.0), m.s, v); });
}
Operations of_end(End end) {
  Molecule m;
  return count([&] { end_step(m.q, end, m.f, m.s); });
}
Operations of_thermostat(Move move) {
  Molecule m;
  return count([&] { thermostat_step(m.q, move, m.xi, N(1.0), m.s); });
}

/// One more iteration, from runs that need a different number of them.
Operations of_iteration(Move move) {
  int few = 0, many = 0;
  const Operations a = of_begin(move, 1e-3, &few), b = of_begin(move, 1e-12, &many);
  EXPECT_GT(many, few);
  return combine(b, a, [&](int all, int part) {
    EXPECT_EQ((all - part) % (many - few), 0);
    return (all - part) / (many - few);
  });
}

Operations of_bonds(const char* model_name) {
  const FlexibleParameters<double> p = flexible_parameters(*find_water_model(model_name));
  const Triple<N> x = triple(0.0);
  return count([&] { (void)intramolecular_force(x, p); });
}

/// Number 0 of the transform to modes, for the coordinates of a molecule: fold, and multiply.
Operations of_transform(int beads) {
  const std::vector<Triple<N>> on_beads(static_cast<std::size_t>(beads), triple(0.0));
  const std::vector<N> table(static_cast<std::size_t>(beads * gpu::even_numbers(beads)), N(0.5));
  return count([&] {
    (void)gpu::folded(0, beads, on_beads.front(), on_beads.back());
    (void)gpu::transformed<Triple<N>>(table.data(), beads, 0, gpu::inputs_of_modes(0, beads),
                                      [&](int j) { return on_beads[static_cast<std::size_t>(j)]; });
  });
}

void add_ring_rows(std::vector<Row>& rows) {
  const ModeNumbers<N> mode{N(0.9), N(0.1), N(0.2), {N(0.8), N(0.8), N(0.3), N(0.7)}};
  MoleculeState<N> s{triple(0.0), small_triple(0.02), small_triple(0.1)};
  const Triple<N> xi = small_triple(0.7);
  rows.push_back({"ring polymer: kick of a mode", count([&] { kick(s, N(0.04)); })});
  rows.push_back({"ring polymer: half a step C", count([&] {
                    rotate_ring(s.x, s.v, mode.cosine, mode.sine_over_omega, mode.omega_sine);
                  })});
  rows.push_back({"ring polymer: O of a mode", count([&] { ring_noise(mode, xi, s); })});
  for (const int beads : {32, 64}) {
    rows.push_back({fmt::format("ring polymer: transform, {} beads", beads), of_transform(beads)});
  }
}

std::vector<Row> counted_rows() {
  std::vector<Row> rows;
  add_pair_rows<false>("tip3p", rows);
  add_pair_rows<true>("tip4p", rows);
  rows.push_back({"begin: kick and drift", of_begin(Move::free)});
  rows.push_back({"begin: SETTLE", of_begin(Move::settle)});
  int newton = 0, sweeps = 0;
  (void)of_begin(Move::newton, 1e-8, &newton);
  (void)of_begin(Move::sweeps, 1e-8, &sweeps);
  EXPECT_GE(newton, 2);
  EXPECT_GT(sweeps, newton);
  rows.push_back({"begin: SHAKE, without its iterations",
                  of_begin(Move::newton) - newton * of_iteration(Move::newton)});
  rows.push_back({"SHAKE, each Newton iteration", of_iteration(Move::newton)});
  rows.push_back({"SHAKE, each sweep", of_iteration(Move::sweeps)});
  rows.push_back({"end: Z&Ss, Gauss-Newton", of_end(End::gauss_newton)});
  rows.push_back({"end: Z&Ss, full", of_end(End::full)});
  rows.push_back({"end: Verlet with the penalty", of_end(End::verlet)});
  rows.push_back({"end: SHAKE", of_end(End::kick)});
  rows.push_back({"end: RATTLE", of_end(End::rattle)});
  rows.push_back({"end: SETTLE", of_end(End::settle)});
  rows.push_back({"O step", of_thermostat(Move::free)});
  rows.push_back({"BAOAB begin, penalty", of_baoab(Move::free)});
  rows.push_back({"BAOAB begin, SETTLE", of_baoab(Move::settle)});
  rows.push_back({"bonds of q-TIP4P/F", of_bonds("qtip4pf")});
  rows.push_back({"bonds of TIP4P/2005f (Morse)", of_bonds("tip4p2005f")});
  add_ring_rows(rows);
  rows.push_back({"Philox, one call", count([&] {
                    PhiloxWords<Word64> c{Word64(1), Word64(2), Word64(3), Word64(4)};
                    (void)philox4x32_10(c, 7);
                  })});
  rows.push_back({"bits of ten normals", count([&] {
                    const Word32 words[8] = {};
                    (void)normal_bits(words);
                  })});
  rows.push_back({"Box-Muller, two normals", count([&] {
                    CountedFloat a, b;
                    box_muller(Word32(12345678u), Word32(9876543u), a, b);
                  })});
  return rows;
}

std::string line_of(const Row& row) {
  const Operations& o = row.cost;
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |", row.name, o.add,
                     o.multiply, o.fma, o.divide, o.square_root, o.rsqrt, o.negate + o.choose,
                     o.word + o.word_multiply, o.flops());
}

TEST(OperationCounts, MatchTheTable) {
  std::vector<std::string> rows;
  for (const Row& row : counted_rows()) rows.push_back(line_of(row));
  expect_document_rows("operations.md", "# Cost of the formulas", rows);
}

/// Half of the beads enter each number, and each is folded with the opposite one.
TEST(OperationCounts, OfTransformsAreAsByHand) {
  for (const int beads : {2, 3, 16, 31, 32, 64, 1024}) {
    const Operations o = of_transform(beads);
    EXPECT_EQ(o.fma, 9 * ((beads + 1) / 2));
    EXPECT_EQ(o.flops(), 2 * o.fma + 9);
  }
}

/// Laws that hold for any formulas: counting changes no number, four sites cost more than three,
/// and a rigid step more than a penalised one.
TEST(OperationCounts, KeepTheNumbers) {
  Molecule m;
  const auto values = [](const Triple<N>& a) {
    std::array<double, 9> numbers;
    std::ranges::transform(to_array(a), numbers.begin(), &N::v);
    return to_triple(numbers);
  };
  MoleculeState<double> plain{values(m.s.x), values(m.s.v), values(m.s.a)};
  end_step(m.q, End::gauss_newton, values(m.f), plain);
  end_step(m.q, End::gauss_newton, m.f, m.s);
  // Where plain numbers have no fma of their own, they round twice.
  EXPECT_NEAR(m.s.a.h1.x.v, plain.a.h1.x, 1e-12 * std::fabs(plain.a.h1.x));
  EXPECT_NEAR(m.s.v.o.z.v, plain.v.o.z, 1e-12);

  CountedFloat a, b;
  box_muller(Word32(12345678u), Word32(9876543u), a, b);
  float c = 0.0f, d = 0.0f;
  box_muller(12345678u, 9876543u, c, d);
  EXPECT_EQ(a.v, c);
  EXPECT_EQ(b.v, d);
}

}  // namespace
}  // namespace tarn
