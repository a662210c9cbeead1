#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <utility>
#include <vector>

#include "deck/notes.hpp"
#include "locks.hpp"
#include "parts.hpp"

namespace tarn::python {
namespace nb = nanobind;
namespace {

using Texts = std::vector<std::string>;

/// The deck of a text. @param path of the deck; relative paths in it start from its folder
Deck load_text(const std::string& text, const std::string& path, const Texts& set,
               const Texts& unset) {
  const Unlocked unlocked;
  try {
    return load_deck_text(text, path, set, unset);
  } catch (const InputError& error) {
    throw DeckError(error, text, path);
  }
}

/// (level, text) of each message about a valid deck that may not do what the user expects.
std::vector<std::pair<std::string, std::string>> messages_on(const Deck& deck) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Message& m : decks::messages_on(deck)) {
    all.emplace_back(std::string(name_of(m.level)), m.text);
  }
  return all;
}

}  // namespace

void add_decks(nb::module_& module) {
  nb::class_<Deck>(module, "Deck", "A checked deck.")
      .def_ro("path", &Deck::path)
      .def_ro("name", &Deck::name)
      .def("__str__", [](const Deck& deck) { return resolved_deck(deck); });
  module.def("read_deck_text", read_deck_text, nb::arg("path"));
  module.def("load_deck", load_text, nb::arg("text"), nb::arg("path"), nb::arg("set"),
             nb::arg("unset"));
  module.def("messages_on", messages_on, nb::arg("deck"));
}

}  // namespace tarn::python
