#include "key_table.hpp"

namespace tarn::decks {

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

Key kind_key() {
  return field_key<&Deck::system, &SystemSection::kind>(
      {.name = "kind",
       .type = Type::choice,
       .choices = system_kinds(),
       .description = "Kind of system, which determines the sections and keys. TO, AST, MS and "
                      "PCSZ denote papers; see [equations.md](equations.md) and "
                      "[equations-mechanics.md](equations-mechanics.md)."});
}

Key duration_key(Key key) {
  key.type = Type::number;
  key.default_text = "from `steps`";
  key.description =
      "Length of the run, rounded up to whole steps; the resolved deck contains `steps`.";
  key.excludes = "steps";
  key.may_change_on_resume = true;
  key.get = [](const Key&, const Deck&) { return Value{}; };
  key.set = [](const Key&, const Value&, Deck&) {};
  return key;
}

Key threads_key(std::string_view description) {
  return field_key<&Deck::run, &RunSection::threads>({.name = "threads",
                                                      .type = Type::integer,
                                                      .range = from_to(0, 4096),
                                                      .description = description,
                                                      .may_change_on_resume = true});
}

SectionTable checkpoint_section() {
  return {
      {.name = "checkpoint",
       .description = "A run always writes a checkpoint at its end and when it is interrupted."},
      {field_key<&Deck::checkpoint, &CheckpointSection::every>(
           {.name = "every",
            .type = Type::integer,
            .unit = "steps",
            .range = from_to(1, kStepLimit),
            .default_text = "none",
            .description = "Interval between checkpoints during the run.",
            .zero_means_absent = true,
            .may_change_on_resume = true}),
       field_key<&Deck::checkpoint, &CheckpointSection::every_minutes>(
           {.name = "every_minutes",
            .type = Type::number,
            .unit = "min",
            .range = {.low = 0.0},
            .description = "Wall time between checkpoints during the run, in addition to `every`; "
                           "0: none. Results do not depend on it.",
            .may_change_on_resume = true})}};
}

}  // namespace tarn::decks
