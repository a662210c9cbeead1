// Runs a deck, prints its averages and reads a column of a table.
// usage: run_deck DECK [section.key=value]...
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <tarn/core/error.hpp>
#include <tarn/deck.hpp>
#include <tarn/io/csv.hpp>
#include <tarn/run.hpp>

int main(int argc, char** argv) try {
  if (argc < 2) throw tarn::InputError("usage: run_deck DECK [section.key=value]...");
  const tarn::Deck deck = tarn::load_deck(argv[1], {argv + 2, argv + argc});

  tarn::RunOptions options;
  options.out_dir = "out/" + deck.name;
  options.overwrite = true;
  options.on_message = [](const tarn::Message& message) {
    const bool is_note = message.level == tarn::Level::note;
    std::printf("%s: %s\n", is_note ? "note" : "warning", message.text.c_str());
  };
  const tarn::RunResult result = tarn::run_deck(deck, options);

  std::printf("%s: %.0f steps per second\n", result.device.c_str(), result.steps_per_second);
  for (const tarn::AveragedQuantity& a : result.averages) {
    std::printf("%s %s: %.4f +- %.4f\n", a.table.c_str(), a.quantity.c_str(), a.mean, a.error);
  }

  // Each table is also a file.
  if (!deck.energies) return EXIT_SUCCESS;
  const tarn::io::Table table = tarn::io::read_table(result.out_dir + "/energies.csv");
  const auto column =
      std::ranges::find(table.columns, "potential_kcal_per_mol", &tarn::io::TableColumn::name);
  std::printf("lowest potential energy: %.4f kcal/mol\n", std::ranges::min(column->numbers));
} catch (const tarn::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.code());
}
