#include "water_keys.hpp"

namespace tarn::decks {

std::string_view unit_of(std::string_view name) {
  constexpr std::array<std::array<std::string_view, 2>, 19> kUnits{
      {{"every", "steps"},
       {"_steps", "steps"},
       {"_minutes", "min"},
       {"_kcal_per_mol_A2", "kcal/mol/Å²"},
       {"_kcal_per_mol_A", "kcal/mol/Å"},
       {"_kcal_per_mol_rad2", "kcal/mol/rad²"},
       {"_kcal_per_mol", "kcal/mol"},
       {"_amu_per_ps", "Da/ps"},
       {"_per_ps", "1/ps"},
       {"_per_cm", "1/cm"},
       {"_per_A", "1/Å"},
       {"_degrees", "°"},
       {"_Da", "Da"},
       {"_fs", "fs"},
       {"_ps", "ps"},
       {"_s", "s"},
       {"_K", "K"},
       {"_A", "Å"},
       {"_e", "e"}}};
  for (const auto& [end, unit] : kUnits) {
    if (name.ends_with(end)) return unit;
  }
  return {};
}

SectionTable checkpoint_section() {
  return section(
      &Deck::checkpoint, "checkpoint",
      "A run always writes a checkpoint at its end and when it is interrupted.",
      {key(&CheckpointSection::every, "every", from_to(1, kStepLimit),
           "Interval between checkpoints during the run.",
           {.default_text = "none", .zero_means_absent = true, .may_change_on_resume = true}),
       key(&CheckpointSection::every_minutes, "every_minutes", at_least(0),
           "Wall time between checkpoints during the run, in addition to `every`; 0: none. Results "
           "do not depend on it.",
           {.may_change_on_resume = true})});
}

}  // namespace tarn::decks
