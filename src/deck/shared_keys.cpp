#include "key_table.hpp"

namespace tarn::decks {

std::vector<Choice> system_kinds() {
  return {{"water", 0, "a cluster of rigid or penalised water molecules in vacuum"},
          {"double-pendulum", 1, "TO 4.1"},
          {"pendulum-chain", 2, "TO 4.2"},
          {"dna", 3, "a strand of bases, TO 4.4"},
          {"three-body-plane", 4,
           "points of masses 1, 1.7, 0.6 in the plane; bonds of length 1 from the first to the "
           "second and on to the third; ½ (r - 1.2)² between the first and the third"},
          {"magnet", 5, "a magnetised rigid body, TO 4.5"},
          {"double-spring", 6, "two stiff springs in the plane, AST 5.1"},
          {"free-body", 7, "a rigid body in n dimensions, MS 6.1"},
          {"heavy-top", 8, "a rigid body with weight about a fixed point, MS 6.2"},
          {"double-spherical-pendulum", 9, "MS 6.3"},
          {"spherical-pendulum", 10, "a pendulum in space, PCSZ"}};
}

Key kind_key() {
  return field_key<&Deck::system, &SystemSection::kind>(
      {.name = "kind",
       .type = Type::choice,
       .choices = system_kinds(),
       .description = "Which kind of system this is; it decides which keys there are."});
}

Key threads_key(std::string_view description) {
  return field_key<&Deck::run, &RunSection::threads>({.name = "threads",
                                                      .type = Type::integer,
                                                      .range = from_to(0, 4096),
                                                      .description = description,
                                                      .may_change_on_resume = true});
}

SectionTable checkpoint_section() {
  return {{.name = "checkpoint",
           .description =
               "A checkpoint is always written at the end of a run and when it is interrupted."},
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
                .description =
                    "Wall time between checkpoints during the run, beside `every`; 0: none. No "
                    "result depends on it.",
                .may_change_on_resume = true})}};
}

}  // namespace tarn::decks
