#include "tarn/core/philox.hpp"

#include <bit>

#include <Random123/philox.h>

#include "core/pack.hpp"
#include "physics/noise.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

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

// Changing one bit of any part of an address changes all four words, and half of their bits: of
// 128 n bits, each flipped with probability 1/2, 64 n +- 4.5 sqrt(32 n).
TEST(NoiseWords, EveryPartOfTheAddressChangesEveryWord) {
  std::mt19937_64 engine(3);
  const auto flip = [&](int bits) { return std::uint64_t{1} << (engine() % bits); };
  const std::vector<std::pair<const char*, std::function<void(Address&)>>> changes{
      {"seed", [&](Address& a) { a.seed ^= flip(64); }},
      {"replica", [&](Address& a) { a.replica ^= flip(32); }},
      {"molecule", [&](Address& a) { a.molecule ^= flip(32); }},
      {"step", [&](Address& a) { a.step ^= flip(56); }},
      {"stream", [&](Address& a) { a.stream = (a.stream + 1) % 3; }},
      {"call", [&](Address& a) { a.call = (a.call + 1) % 3; }},
      {"exchange of replica and molecule", [&](Address& a) { std::swap(a.replica, a.molecule); }}};
  for (const auto& [what, change] : changes) {
    SCOPED_TRACE(what);
    const int n = 4000;
    int flipped = 0;
    for (int k = 0; k < n; ++k) {
      Address a{engine(),
                engine() >> 32,
                engine() >> 32,
                engine() >> 8,
                static_cast<std::uint32_t>(engine() % 3),
                static_cast<std::uint32_t>(engine() % 3)};
      const Words before = a.words();
      change(a);
      const Words after = a.words();
      for (int w = 0; w < 4; ++w) {
        ASSERT_NE(before[w], after[w]);
        flipped += std::popcount(before[w] ^ after[w]);
      }
    }
    EXPECT_NEAR(flipped, 64.0 * n, 4.5 * std::sqrt(32.0 * n));
  }
}

}  // namespace
}  // namespace tarn
