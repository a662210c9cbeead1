#include "physics/noise.hpp"

#include <bit>

#include <Random123/philox.h>

#include "core/pack.hpp"
#include "tarn/core/philox.hpp"
#include "testing.hpp"
#include "worst.hpp"

namespace tarn {
namespace {

using test::Worst;

// --- Philox --------------------------------------------------------------------------------------

using U64 = Pack<std::uint64_t>;
using Words = std::array<std::uint32_t, 4>;

Words random123(const Words& counter, std::uint64_t key) {
  const r123::Philox4x32::ctr_type c = {{counter[0], counter[1], counter[2], counter[3]}};
  const r123::Philox4x32::key_type k = {
      {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)}};
  const r123::Philox4x32::ctr_type r = r123::Philox4x32()(c, k);
  return {r[0], r[1], r[2], r[3]};
}
Words low_halves(const PhiloxWords<std::uint64_t>& w) {
  return {static_cast<std::uint32_t>(w.w0), static_cast<std::uint32_t>(w.w1),
          static_cast<std::uint32_t>(w.w2), static_cast<std::uint32_t>(w.w3)};
}
Words low_halves(const PhiloxWords<U64>& w, int lane) {
  return low_halves(PhiloxWords<std::uint64_t>{w.w0[lane], w.w1[lane], w.w2[lane], w.w3[lane]});
}

// The known answers that Salmon et al. publish with their code.
TEST(Philox, KnownAnswers) {
  const auto philox = [](Words c, std::uint64_t key) {
    return low_halves(philox4x32_10(PhiloxWords<std::uint64_t>{c[0], c[1], c[2], c[3]}, key));
  };
  EXPECT_EQ(philox({0, 0, 0, 0}, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, ~std::uint64_t{0}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822u),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, EqualsRandom123ForAllHighHalves) {
  std::mt19937_64 engine(1);
  for (int n = 0; n < 100000; ++n) {
    const std::uint64_t key = engine();
    PhiloxWords<U64> counter;
    for (U64* w : {&counter.w0, &counter.w1, &counter.w2, &counter.w3}) {
      for (int i = 0; i < U64::lanes; ++i) w->v[i] = engine();
    }
    const PhiloxWords<U64> pack = philox4x32_10(counter, key);
    for (int i = 0; i < U64::lanes; ++i) {
      const PhiloxWords<std::uint64_t> c{counter.w0[i], counter.w1[i], counter.w2[i],
                                         counter.w3[i]};
      const Words expected = random123(low_halves(c), key);
      ASSERT_EQ(low_halves(philox4x32_10(c, key)), expected);
      ASSERT_EQ(low_halves(pack, i), expected);
    }
  }
}

/// What noise_words() is asked for.
struct Address {
  std::uint64_t seed = 1, replica = 0, molecule = 0, step = 0;
  std::uint32_t stream = 0, call = 0;

  Words words() const {
    return low_halves(noise_words<std::uint64_t>(seed, replica, molecule, step,
                                                 static_cast<NoiseStream>(stream), call));
  }
};

// All bits of the documented ranges occur, so that no two addresses share a counter.
TEST(NoiseWords, CounterIsLaidOutAsDocumented) {
  std::mt19937_64 engine(2);
  for (int n = 0; n < 10000; ++n) {
    const Address a{engine(),
                    engine() >> 32,
                    engine() >> 32,
                    engine() >> (8 + n % 56),
                    static_cast<std::uint32_t>(n % 3),
                    static_cast<std::uint32_t>(n / 3 % 3)};
    const Words counter{static_cast<std::uint32_t>(a.step),
                        static_cast<std::uint32_t>((a.step >> 32) << 8) | a.stream << 2 | a.call,
                        static_cast<std::uint32_t>(a.molecule),
                        static_cast<std::uint32_t>(a.replica)};
    ASSERT_EQ(a.words(), random123(counter, a.seed));
    const PhiloxWords<U64> pack = noise_words(a.seed, U64(a.replica), U64(a.molecule), a.step,
                                              static_cast<NoiseStream>(a.stream), a.call);
    ASSERT_EQ(low_halves(pack, 0), a.words());
  }
}

// --- Box-Muller against libm ---------------------------------------------------------------------

constexpr std::uint32_t kRadii = 1u << 27, kAngles = 1u << 24;

/// The two normal numbers from 27 and 24 bits.
void normals_from(std::uint32_t radius_bits, std::uint32_t angle_bits, float& first,
                  float& second) {
  box_muller(radius_bits << 5, angle_bits << 8, first, second);
}

/// The same in long double. u is rounded to float, as it is part of the definition:
/// near u = 1 that decides the radius.
std::pair<long double, long double> exact_normals(std::uint32_t radius_bits,
                                                  std::uint32_t angle_bits) {
  const float u = (static_cast<float>(radius_bits) + 0.5f) * 0x1p-27f;
  const long double radius = std::sqrt(-2.0L * std::log(static_cast<long double>(u)));
  const long double half_turn = 3.14159265358979323846L;
  const std::uint32_t half = angle_bits % (kAngles / 2);
  const long double angle = half_turn * ((2 * half - 0x1p23L) * 0x1p-24L + (angle_bits >> 23));
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Integers below `end` near powers of two and near the limits of quadrants.
std::vector<std::uint32_t> edges_below(std::uint32_t end) {
  std::vector<std::uint32_t> words;
  for (std::uint32_t p = 1; p < end; p *= 2) {
    for (std::uint32_t w :
         {p - 1, p, p + 1, ~p, ~p + 2, end / 4 + p, end / 4 - p, 3 * (end / 4) - p}) {
      words.push_back(w % end);
    }
  }
  return words;
}

/// Calls f(radius, angle) for all pairs of edges and for many random ones.
template <class F>
void for_words(F f) {
  const std::vector<std::uint32_t> radii = edges_below(kRadii), angles = edges_below(kAngles);
  for (std::uint32_t r : radii) {
    for (std::uint32_t a : angles) f(r, a);
  }
  std::mt19937_64 engine(1);
  for (int n = 0; n < 1000000; ++n) {
    const std::uint64_t w = engine();
    // Half of the radii far out in the tail, where few random words fall.
    const int shift = n % 2 == 0 ? 0 : static_cast<int>(engine() % 27);
    f(static_cast<std::uint32_t>(w) % kRadii >> shift, static_cast<std::uint32_t>(w >> 40));
  }
}

// In units of 2^-24 relative to the radius: -2 ln u has at most 6 (the fit of its polynomial 3, the
// last steps of Horner's rule, its product and the last sum 1 each), of which the square root keeps
// half and adds 1; x is exact, x^2 is rounded once and leaves at most 3/4 in sine and cosine, their
// fits leave 1, the last steps of Horner's rule 2, and the last products 1 each: below 10. It
// cannot be better than half a rounding of the product. Where ln u is a sum with e != 0 it does not
// cancel. A pack gives the bits of scalars.
TEST(BoxMuller, AgreesWithLibm) {
  Worst relative_to_radius("box_muller_in_2^-24_of_radius"), largest("box_muller_largest");
  for_words([&](std::uint32_t r, std::uint32_t a) {
    float first, second;
    normals_from(r, a, first, second);
    Pack<float> first_of_pack, second_of_pack;
    box_muller(Pack<std::uint32_t>(r << 5), Pack<std::uint32_t>(a << 8), first_of_pack,
               second_of_pack);
    ASSERT_EQ(bits_of(first_of_pack[0]), bits_of(first));
    ASSERT_EQ(bits_of(second_of_pack[0]), bits_of(second));
    const auto [exact_first, exact_second] = exact_normals(r, a);
    // Both are 0 where the radius is.
    const long double radius = std::max(std::hypot(exact_first, exact_second), 0x1p-60L);
    relative_to_radius.see(0x1p24L * (first - exact_first) / radius, r);
    relative_to_radius.see(0x1p24L * (second - exact_second) / radius, r);
    largest.see(std::max(std::fabs(first), std::fabs(second)));
  });
  relative_to_radius.expect_between(0.5, 10.0);
  // sqrt(-2 ln 2^-28): the largest number that 27 bits and a half can give.
  largest.expect_between(6.2302, 6.2304);
}

// The laws: half a turn of the angle turns the pair round, and its mirror image mirrors the second
// number, exactly.
TEST(BoxMuller, HalfTurnsAndMirrorsAreExact) {
  for_words([&](std::uint32_t r, std::uint32_t a) {
    float x, y, other_x, other_y;
    normals_from(r, a, x, y);
    normals_from(r, a ^ (kAngles / 2), other_x, other_y);
    ASSERT_EQ(other_x, -x) << r << ' ' << a;
    ASSERT_EQ(other_y, -y) << r << ' ' << a;
    const std::uint32_t half = a % (kAngles / 2);
    if (half == 0) return;
    normals_from(r, a - half + (kAngles / 2 - half), other_x, other_y);
    ASSERT_EQ(other_x, x) << r << ' ' << a;
    ASSERT_EQ(other_y, -y) << r << ' ' << a;
  });
}

// --- the nine numbers of a molecule -------------------------------------------------------------

std::array<double, 9> normals(std::uint64_t seed, std::uint64_t replica, std::uint64_t molecule,
                              std::uint64_t step, NoiseStream stream = NoiseStream::thermostat) {
  const MoleculeNormals n = molecule_normals(seed, replica, molecule, step, stream);
  std::array<double, 9> r;
  std::copy_n(n.xi, 9, r.begin());
  return r;
}

// Each of the 256 bits of the eight words is used once: turning one turns one bit, and the 5 * 51
// bits are all there are but one.
TEST(NormalBits, UseEachBitOnce) {
  std::uint32_t used_radius[5] = {}, used_angle[5] = {};
  int unused = 0;
  for (int word = 0; word < 8; ++word) {
    for (int bit = 0; bit < 32; ++bit) {
      std::uint32_t w[8] = {};
      w[word] = 1u << bit;
      const NormalBits<std::uint32_t> bits = normal_bits(w);
      int turned = 0;
      for (int p = 0; p < 5; ++p) {
        const std::uint32_t radius = bits.radius[p] >> 5, angle = bits.angle[p] >> 8;
        turned += std::popcount(radius) + std::popcount(angle);
        EXPECT_EQ(used_radius[p] & radius, 0u);
        EXPECT_EQ(used_angle[p] & angle, 0u);
        used_radius[p] |= radius;
        used_angle[p] |= angle;
      }
      EXPECT_LE(turned, 1) << word << ' ' << bit;
      unused += turned == 0;
    }
  }
  EXPECT_EQ(unused, 1);
  for (int p = 0; p < 5; ++p) {
    EXPECT_EQ(used_radius[p], kRadii - 1) << p;
    EXPECT_EQ(used_angle[p], kAngles - 1) << p;
  }
}

// Each lane has an address of its own, with replicas and molecules mixed as an engine may do.
TEST(MoleculeNormals, PacksGiveTheNumbersOfEachLane) {
  std::mt19937_64 engine(2);
  for (int n = 0; n < 10000; ++n) {
    const std::uint64_t seed = engine(), step = engine() >> (8 + n % 56);
    const auto stream = static_cast<NoiseStream>(n % 3);
    NoisePack<U64, U64> names[2];
    for (auto& name : names) {
      for (int i = 0; i < U64::lanes; ++i) {
        name.replica.v[i] = engine() >> (32 + n % 32);
        name.molecule.v[i] = engine() >> (32 + n % 32);
      }
    }
    const auto check = [&](const auto& pack_of_names) {
      const Triple<Pack<float>> pack = molecule_normals(seed, pack_of_names, step, stream);
      const Pack<float> numbers[9] = {pack.o.x,  pack.o.y,  pack.o.z,  pack.h1.x, pack.h1.y,
                                      pack.h1.z, pack.h2.x, pack.h2.y, pack.h2.z};
      for (int i = 0; i < Pack<float>::lanes; ++i) {
        const auto& name = names[i / Pack<double>::lanes];
        const int lane = i % Pack<double>::lanes;
        const MoleculeNormals scalar =
            molecule_normals(seed, name.replica[lane], name.molecule[lane], step, stream);
        for (int k = 0; k < 9; ++k) {
          ASSERT_EQ(bits_of(numbers[k][i]), bits_of(scalar.xi[k])) << "number " << k;
        }
      }
    };
    check(names);
    // A number for all lanes beside packs.
    const std::uint64_t molecules[2] = {names[0].molecule[0], names[1].molecule[0]};
    const std::uint64_t replicas[2] = {names[0].replica[0], names[1].replica[0]};
    for (int k = 0; k < 2; ++k) names[k].molecule = U64(molecules[k]);
    const NoisePack<U64, std::uint64_t> of_one_molecule[2] = {{names[0].replica, molecules[0]},
                                                              {names[1].replica, molecules[1]}};
    check(of_one_molecule);
    for (int k = 0; k < 2; ++k) {
      names[k] = {U64(replicas[k]), lane_numbers<std::uint64_t>() + U64(molecules[k])};
    }
    const NoisePack<std::uint64_t, U64> of_one_replica[2] = {{replicas[0], names[0].molecule},
                                                             {replicas[1], names[1].molecule}};
    check(of_one_replica);
  }
}

// The same bits whatever the compiler, the instruction set or the processor: FNV-1a over the first
// numbers, as they came out of the portable build.
TEST(MoleculeNormals, AreTheSameEverywhere) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::uint64_t replica = 0; replica < 4; ++replica) {
    for (std::uint64_t molecule = 0; molecule < 7; ++molecule) {
      for (std::uint64_t step = 0; step < 50; ++step) {
        const auto n = molecule_normals(1, replica, molecule, step, NoiseStream::thermostat);
        for (float x : n.xi) hash = (hash ^ bits_of(x)) * 0x100000001b3u;
      }
    }
  }
  EXPECT_EQ(hash, 14096159561769088702u);
}

constexpr int kReplicas = 20, kMolecules = 25, kSteps = 1000;
constexpr int kSamples = kReplicas * kMolecules * kSteps;

/// One sample for each replica, molecule and step, in this order.
const std::vector<std::array<double, 9>>& samples() {
  static const std::vector<std::array<double, 9>> all = [] {
    std::vector<std::array<double, 9>> r;
    for (int k = 0; k < kSamples; ++k) {
      r.push_back(normals(2024, k / kSteps / kMolecules, k / kSteps % kMolecules, k % kSteps));
    }
    return r;
  }();
  return all;
}

// The mean of x^k over n samples has the variance (E x^2k - (E x^k)^2) / n, with
// E x^2, x^4, x^6, x^8 = 1, 3, 15, 105.
TEST(MoleculeNormals, FourMoments) {
  const double mean[] = {0, 1, 0, 3}, variance[] = {1, 2, 15, 96};
  for (int component = 0; component < 9; ++component) {
    double sum[4] = {};
    for (const std::array<double, 9>& x : samples()) {
      double power = 1.0;
      for (double& s : sum) s += power *= x[component];
    }
    for (int k = 0; k < 4; ++k) {
      EXPECT_NEAR(sum[k] / kSamples, mean[k], 4.5 * std::sqrt(variance[k] / kSamples))
          << "component " << component << ", moment " << k + 1;
    }
  }
}

// A count of n trials with probability p has the variance n p (1 - p).
TEST(MoleculeNormals, TailCounts) {
  const double n = 9.0 * kSamples;
  for (double bound : {0.5, 1.0, 2.0, 3.0, 4.0, 4.5}) {
    double above = 0, below = 0;
    for (const std::array<double, 9>& x : samples()) {
      for (double v : x) {
        above += v > bound;
        below += v < -bound;
      }
    }
    const double p = 0.5 * std::erfc(bound / std::sqrt(2.0));
    EXPECT_NEAR(above, n * p, 4.5 * std::sqrt(n * p * (1 - p))) << "above " << bound;
    EXPECT_NEAR(below, n * p, 4.5 * std::sqrt(n * p * (1 - p))) << "below -" << bound;
  }
}

// sqrt(n) D follows Kolmogorov's distribution: above 2.51 and below 0.30 it is as rare as
// 4.5 sigma (1 - Q(2.51) = 7e-6; Q(0.30) = 9e-6). Too even would be as wrong as too odd.
TEST(MoleculeNormals, KolmogorovSmirnov) {
  std::vector<double> x;
  for (int k = 0; k < kSamples; k += 10)
    x.insert(x.end(), samples()[k].begin(), samples()[k].end());
  std::sort(x.begin(), x.end());
  const double n = static_cast<double>(x.size());
  double distance = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double cdf = 0.5 * std::erfc(-x[k] / std::sqrt(2.0));
    distance = std::max(
        {distance, cdf - static_cast<double>(k) / n, static_cast<double>(k + 1) / n - cdf});
  }
  EXPECT_LT(std::sqrt(n) * distance, 2.51);
  EXPECT_GT(std::sqrt(n) * distance, 0.30);
}

/// Demands that x and y, n pairs of them, are uncorrelated, and their squares too: the products
/// have the variances 1 and 4.
template <class Pairs>
void expect_independent(Pairs for_each_pair) {
  double n = 0, product = 0, squares = 0;
  for_each_pair([&](double x, double y) {
    n += 1;
    product += x * y;
    squares += (x * x - 1) * (y * y - 1);
  });
  ASSERT_GT(n, 1e5);
  EXPECT_LT(std::fabs(product), 4.5 * std::sqrt(n));
  EXPECT_LT(std::fabs(squares), 4.5 * 2.0 * std::sqrt(n));
}

TEST(MoleculeNormals, TheNineAreIndependent) {
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < i; ++j) {
      SCOPED_TRACE(std::to_string(i) + " and " + std::to_string(j));
      expect_independent([&](auto see) {
        for (const std::array<double, 9>& x : samples()) see(x[i], x[j]);
      });
    }
  }
}

// Of samples that are a number of places apart: by a step, a molecule, a replica.
TEST(MoleculeNormals, NeighboursAreIndependent) {
  for (const int lag : {1, kSteps, kSteps * kMolecules}) {
    SCOPED_TRACE(lag);
    expect_independent([&](auto see) {
      for (int k = 0; k + lag < kSamples; ++k) {
        for (int c = 0; c < 9; ++c) see(samples()[k][c], samples()[k + lag][c]);
      }
    });
  }
}

TEST(MoleculeNormals, SeedsAndStreamsAreIndependent) {
  const struct {
    const char* what;
    std::uint64_t seed;
    NoiseStream stream;
  } others[] = {{"next seed", 2025, NoiseStream::thermostat},
                {"high half of the seed", 2024 + (std::uint64_t{1} << 32), NoiseStream::thermostat},
                {"start velocities", 2024, NoiseStream::start_velocities},
                {"start cluster", 2024, NoiseStream::start_cluster}};
  for (const auto& other : others) {
    SCOPED_TRACE(other.what);
    expect_independent([&](auto see) {
      for (int molecule = 0; molecule < kMolecules; ++molecule) {
        for (int step = 0; step < kSteps; ++step) {
          const auto x = normals(2024, 3, molecule, step);
          const auto y = normals(other.seed, 3, molecule, step, other.stream);
          for (int c = 0; c < 9; ++c) see(x[c], y[c]);
        }
      }
    });
  }
}

}  // namespace
}  // namespace tarn
