// Derivatives of the systems by differences, the solvers against Eigen's, and strands of DNA.
#include "papers/systems.hpp"

#include "geometry.hpp"
#include "papers/methods.hpp"
#include "testing.hpp"

namespace tarn::papers {
namespace {

// derivative() is good to some 1e-13 of the largest value; the steepest system here has omega² = 9
// and a well with a = 7, whose derivatives grow by a factor of 10 each.
void expect_derivatives_agree(const MechanicalSystem& system, const Vector& q) {
  const Index n = system.size();
  const Vector a = standard_normals(3, n);
  const auto as_vector = [&](const Vector& x) {
    return Vector(Vector::Constant(1, system.potential(x)));
  };
  EXPECT_LT((derivative(as_vector, q).transpose() - system.gradient(q)).norm(), 1e-11);
  const auto hessian = [&](const Vector& x) {
    BandMatrix h(n, system.sparsity());
    system.add_hessian(x, 1.0, h, Hessian::full);
    return h.to_dense();
  };
  const Matrix differences = derivative([&](const Vector& x) { return system.gradient(x); }, q);
  EXPECT_LT((differences - hessian(q)).norm(), 1e-10);
  const auto form = [&](const Vector& x) {
    return Vector(Vector::Constant(1, a.dot(hessian(x) * a)));
  };
  EXPECT_LT((derivative(form, q).transpose() - system.third_derivative(q, a)).norm(), 1e-9);
}

TEST(MechanicsSystems, DerivativesMatchThePotential) {
  const Experiment bodies = make_three_body_plane(3.0);
  expect_derivatives_agree(bodies.whole(),
                           bodies.position + 0.2 * standard_normals(1, bodies.position.size()));
  const Experiment chain = make_pendula(pendulum_chain(5), 3.0);
  expect_derivatives_agree(chain.whole(), chain.position + 0.1 * standard_normals(2, 10));
  for (bool periodic : {true, false}) {
    const Experiment dna =
        make_dna({.n = 6, .epsilon = 0.1, .ends = periodic ? DnaEnds::periodic : DnaEnds::free},
                 standard_normals(4, 6));
    expect_derivatives_agree(dna.whole(), dna.position);
  }
}

TEST(MechanicsSystems, StiffPartIsThePenalty) {
  const Experiment p = make_three_body_plane(3.0);
  BandMatrix whole(6, p.whole().sparsity()), stiff(6, p.whole().sparsity());
  BandMatrix soft(6, dense(6));
  p.whole().add_hessian(p.position, 1.0, whole, Hessian::full);
  p.whole().add_hessian(p.position, 1.0, stiff, Hessian::stiff);
  p.soft->add_hessian(p.position, 1.0, soft, Hessian::full);
  EXPECT_LT((whole.to_dense() - stiff.to_dense() - soft.to_dense()).norm(),
            test::few_roundings(stiff.to_dense().norm()));
  EXPECT_GT(stiff.to_dense().norm(), 1.0);
  EXPECT_GT(soft.to_dense().norm(), 0.1);
}

TEST(MechanicsSystems, GramMatrixIsThatOfTheGradients) {
  const Experiment p = make_pendula(pendulum_chain(6), 3.0);
  const Vector left = p.position + 0.1 * standard_normals(1, 12);
  const Vector masses = Vector::LinSpaced(12, 1.0, 3.0);
  const BandMatrix gram = p.constraint->gram(left, p.position, masses, 2.0);
  Matrix g_left(6, 12), g_right(6, 12);
  for (Index i = 0; i < 12; ++i) {
    g_left.col(i) = p.constraint->rates(left, Vector::Unit(12, i));
    g_right.col(i) = p.constraint->rates(p.position, Vector::Unit(12, i));
  }
  const Matrix expected = 2.0 * g_left * masses.cwiseInverse().asDiagonal() * g_right.transpose();
  EXPECT_LT((gram.to_dense() - expected).norm(), test::few_roundings(expected.norm()));
}

// Random indefinite matrices of condition below some 1e3: errors are some 1e3 eps.
TEST(MechanicsBandMatrix, SolvesLikeADenseMatrix) {
  for (const auto& [size, sparsity] : {std::pair<Index, Sparsity>{30, {1}},
                                       {30, {3}},
                                       {5, {1}},
                                       {7, {6}},
                                       {20, {1, true}},
                                       {4, {1, true}},
                                       {1, {0}},
                                       {9, {0}}}) {
    BandMatrix a(size, sparsity);
    const Vector random = standard_normals(static_cast<std::uint64_t>(size), size * size);
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j < size; ++j) {
        const Index d = std::abs(i - j);
        if (d > sparsity.half_bandwidth && !(sparsity.cyclic && d == size - 1)) continue;
        a.add(i, j, random[i * size + j] + (i == j ? 0.5 : 0.0));
      }
    }
    const Vector b = standard_normals(77, size);
    const Vector expected = a.to_dense().fullPivLu().solve(b);
    EXPECT_LT((a.solve(b) - expected).norm(), 1e-9 * expected.norm()) << size;
  }
}

TEST(MechanicsBandMatrix, RefusesEntriesOutsideTheBand) {
  BandMatrix a(9, {1});
  EXPECT_THROW(a.add(0, 2, 1.0), std::logic_error);
  EXPECT_THROW(BandMatrix(3, {1, true}), std::logic_error);
}

TEST(MechanicsNormals, HaveTheirMomentsAndBelongToTheSeed) {
  constexpr Index kCount = 40000;
  const Vector xi = standard_normals(5, kCount);
  // 4.5 sigma of the mean, 1/√n, and of the mean square, √(2/n).
  EXPECT_NEAR(xi.mean(), 0.0, 4.5 / std::sqrt(kCount));
  EXPECT_NEAR(xi.squaredNorm() / kCount, 1.0, 4.5 * std::sqrt(2.0 / kCount));
  EXPECT_EQ(standard_normals(5, 7), xi.head(7));
  EXPECT_NE(standard_normals(6, 7), xi.head(7));
}

// --- the DNA model of TO 4.4 over twenty seeds: when the strand opens, and the energy it keeps ---

// The other well is at 5.49; its edge, where the mean angle counts as arrived.
constexpr double kArrived = 5.0;
constexpr int kSeeds = 20;

/// Standard error of the mean.
double error_of(const Vector& sample) {
  const auto n = static_cast<double>(sample.size());
  return std::sqrt((sample.array() - sample.mean()).square().sum() / (n * (n - 1.0)));
}

struct Outcome {
  Vector crossing = Vector::Zero(kSeeds), energies = Vector::Zero(kSeeds);
};

/// Every seed to t = 1000.
Outcome run(const char* scheme, double h) {
  Outcome outcome;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const Experiment p =
        make_dna({.n = 200}, standard_normals(static_cast<std::uint64_t>(seed), 200));
    const auto method = method_of(p, {.scheme = scheme, .step = h, .beta = 0.3});
    State s = advanced(*method, p.position, p.velocity, 0);
    double crossing = -1.0, sum = 0.0;
    const int steps = static_cast<int>(std::lround(1000.0 / h));
    for (int k = 1; k <= steps; ++k) {
      method->step(s);
      sum += energy(p.whole(), s);
      if (crossing < 0.0 && s.x.mean() > kArrived) crossing = k * h;
    }
    EXPECT_GT(crossing, 0.0) << "seed " << seed << " stays in its well";
    outcome.crossing[seed - 1] = crossing;
    outcome.energies[seed - 1] = sum / steps;
  }
  return outcome;
}

// Times and energies of an independent program, with the tolerance that it states, and 4.5 sigma of
// the seeds here for the energies.
TEST(MechanicsDna, StrandsOpenAtTheKnownTimes) {
  const Outcome verlet = run("verlet", 0.2), zs = run("zs", 2.0);
  EXPECT_NEAR(verlet.crossing.mean(), 162.0, 15.0);
  EXPECT_NEAR(zs.crossing.mean(), 188.0, 20.0);
  EXPECT_NEAR(verlet.energies.mean(), 2.15, 4.5 * error_of(verlet.energies));
  EXPECT_NEAR(zs.energies.mean(), 1.4, 4.5 * error_of(zs.energies));
  // Small enough to tell one from the other: Z&S is later, and has less energy.
  EXPECT_LT(error_of(verlet.energies), 0.1);
  EXPECT_LT(error_of(zs.energies), 0.1);
  const auto apart = [](const Vector& a, const Vector& b) {
    return (a.mean() - b.mean()) / std::hypot(error_of(a), error_of(b));
  };
  EXPECT_GT(apart(zs.crossing, verlet.crossing), 4.5);
  EXPECT_GT(apart(verlet.energies, zs.energies), 4.5);
}

// Coarse steps last to t = 2000, but are not for long runs: every strand is lost some time after
// t = 3500.
TEST(MechanicsDna, CoarseStepsAreLostLater) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Experiment p = make_dna({.n = 200}, standard_normals(seed, 200));
    const auto zs = method_of(p, {.scheme = "zs", .step = 2.0, .beta = 0.3});
    State s = advanced(*zs, p.position, p.velocity, 1000);
    EXPECT_LT(std::abs(s.x.mean()), 100.0) << seed;
    EXPECT_LT(energy(p.whole(), s), 10.0) << seed;
    int steps = 1000;
    while (steps < 10'000 && s.x.allFinite() && s.x.lpNorm<Eigen::Infinity>() < 1e6) {
      zs->step(s);
      ++steps;
      if (steps == 1750) {
        EXPECT_LT(s.x.lpNorm<Eigen::Infinity>(), 1e3) << seed;
      }
    }
    EXPECT_GT(steps, 1750) << seed;
    EXPECT_LT(steps, 10'000) << seed;
  }
}

}  // namespace
}  // namespace tarn::papers
