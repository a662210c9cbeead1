#pragma once

#include "tarn/compare.hpp"
#include "testing.hpp"

/// @file
/// The deck of 32 molecules at 298 K (inputs/droplet32.toml), with whatever is to be changed in it.

namespace tarn::test {

inline constexpr double kRoom_K = 298.15;

/// One scheme with its keys; the others of the deck are as they are written there.
inline SchemeResult droplet(const std::string& scheme, std::vector<std::string> overrides,
                            double duration_ps, double equilibration_ps) {
  const ScratchFolder folder;
  overrides.push_back("run.duration_ps=" + std::to_string(duration_ps));
  overrides.push_back("run.equilibration_ps=" + std::to_string(equilibration_ps));
  overrides.push_back("observe.energies.every=50");
  const Deck deck = load_deck(std::string(TARN_SOURCE_DIR) + "/inputs/droplet32.toml", overrides);
  CompareOptions options;
  options.out_dir = folder.path();
  options.overwrite = true;
  const SchemeResult r = compare_schemes(deck, {scheme}, options).schemes.at(0);
  const std::string name = scheme + "_" + (overrides.empty() ? "" : overrides[0]);
  ::testing::Test::RecordProperty(name + "_V0", std::to_string(r.potential_kcal_per_mol.mean));
  ::testing::Test::RecordProperty(name + "_V0_error",
                                  std::to_string(r.potential_kcal_per_mol.error));
  ::testing::Test::RecordProperty(name + "_T_translation", std::to_string(r.translation_K.mean));
  ::testing::Test::RecordProperty(name + "_stopped", static_cast<int>(r.blow_ups.size()));
  return r;
}

/// A mean that is within 4.5 standard errors of a number that itself is known to `known` only.
inline void expect_mean(const analysis::MeanError& mean, double value, double known,
                        const std::string& what) {
  EXPECT_NEAR(mean.mean, value, 4.5 * mean.error + known) << what << " +- " << mean.error;
}

}  // namespace tarn::test
