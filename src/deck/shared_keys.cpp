#include "key_table.hpp"

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

std::vector<Choice> system_kinds() {
  return {
      {"water", 0, "a cluster of rigid or penalised water molecules in vacuum"},
      {"double-pendulum", 1, "a planar double pendulum, TO 4.1"},
      {"pendulum-chain", 2, "a planar chain of pendula, TO 4.2"},
      {"dna", 3, "a strand of DNA bases, TO 4.4"},
      {"three-body-plane", 4,
       "points with masses 1, 1.7 and 0.6 in the plane, with bonds of length 1 between the first "
       "and second and between the second and third, and ½ (r - 1.2)² between the first and third"},
      {"magnet", 5, "a magnetised rigid body, TO 4.5"},
      {"double-spring", 6, "two stiff springs in the plane, AST 5.1"},
      {"free-body", 7, "a rigid body in n dimensions, MS 6.1"},
      {"heavy-top", 8, "a rigid body with a fixed point under gravity, MS 6.2"},
      {"double-spherical-pendulum", 9, "a double spherical pendulum, MS 6.3"},
      {"spherical-pendulum", 10, "a spherical pendulum, PCSZ"}};
}

KeyOf<SystemSection> kind_key() {
  return key(
      &SystemSection::kind, "kind", system_kinds(),
      "Kind of system, which determines the sections and keys. TO, AST, MS and PCSZ denote papers; "
      "see [equations.md](equations.md) and [equations-mechanics.md](equations-mechanics.md).");
}

KeyOf<RunSection> threads_key(std::string_view description) {
  return key(&RunSection::threads, "threads", from_to(0, 4096), description,
             {.may_change_on_resume = true});
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
