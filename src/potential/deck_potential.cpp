#include "tarn/deck_potential.hpp"

#include <cstring>
#include <span>

#include <fmt/format.h>

#include "core/packing.hpp"
#include "deck/source.hpp"
#include "tarn/core/error.hpp"
#include "tarn/socket_potential.hpp"

namespace tarn {
namespace {

/// What a rank needs to make the potential of a deck.
struct Recipe {
  PotentialKind kind = PotentialKind::library;
  std::string place;  ///< path of a library, or address
  std::string options;
  int clients = 1;
  double timeout_s = 0.0;
  int molecules = 1;
};

std::string text_of(const Recipe& r) {
  Words words;
  Packer(words).put(r.kind).put(r.place).put(r.options);
  Packer(words).put(r.clients).put(r.timeout_s).put(r.molecules);
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(words[0])};
}

Recipe recipe_of(const std::string& text) {
  Words words(text.size() / sizeof(Words::value_type));
  std::memcpy(words.data(), text.data(), text.size());
  Unpacker from(words);
  Recipe r;
  from.take(r.kind).take(r.place).take(r.options);
  from.take(r.clients).take(r.timeout_s).take(r.molecules);
  return r;
}

/// Each rank listens at its own address.
ServeAddress address_of_rank(const std::string& text, int rank) {
  const decks::SocketAddress at = decks::socket_address(text).value();
  ServeAddress address{at.unix_name, at.host, at.port};
  if (rank == 0) return address;
  if (address.unix_name.empty()) {
    address.port += rank;
  } else {
    address.unix_name += fmt::format("-{}", rank);
  }
  return address;
}

std::shared_ptr<Potential> made(const Recipe& r, int rank, const PotentialCallbacks& callbacks) {
  if (r.kind == PotentialKind::library) {
    return make_library_potential(r.place, r.options, r.molecules, callbacks.on_message);
  }
  return make_socket_potential({.address = address_of_rank(r.place, rank),
                                .clients = r.clients,
                                .timeout_s = r.timeout_s,
                                .molecules = r.molecules,
                                .interrupted = callbacks.interrupted,
                                .on_message = callbacks.on_message});
}

/// A potential that other ranks can make.
class PotentialOfDeck final : public Potential {
 public:
  PotentialOfDeck(const Recipe& recipe, const PotentialCallbacks& callbacks)
      : recipe_(text_of(recipe)), potential_(made(recipe, 0, callbacks)) {}

  void compute(std::span<const double> positions_A, std::span<const std::int64_t> image_ids,
               std::span<double> energies_kcal_per_mol,
               std::span<double> forces_kcal_per_mol_A) override {
    potential_->compute(positions_A, image_ids, energies_kcal_per_mol, forces_kcal_per_mol_A);
  }
  std::string name() const override { return potential_->name(); }
  std::string recipe() const override { return recipe_; }

 private:
  std::string recipe_;
  std::shared_ptr<Potential> potential_;
};

}  // namespace

std::shared_ptr<Potential> make_potential(const Deck& deck, int molecules,
                                          const PotentialCallbacks& callbacks) {
  const PotentialKind kind = potential_kind(deck);
  if (kind != PotentialKind::library && kind != PotentialKind::socket) return nullptr;
  const PotentialSection& section = *deck.potential;
  const std::string place =
      kind == PotentialKind::library ? potential_path(deck).value() : section.address.value();
  return std::make_shared<PotentialOfDeck>(
      Recipe{kind, place, section.options, section.clients, section.timeout_s, molecules},
      callbacks);
}

std::shared_ptr<Potential> potential_of_rank(const std::string& recipe, int rank,
                                             const PotentialCallbacks& callbacks) {
  return made(recipe_of(recipe), rank, callbacks);
}

std::shared_ptr<Potential> potential_of(const Deck& deck, int molecules,
                                        const std::shared_ptr<Potential>& given,
                                        const PotentialCallbacks& callbacks) {
  if (potential_kind(deck) != PotentialKind::program) {
    return make_potential(deck, molecules, callbacks);
  }
  if (given) return given;
  throw InputError(fmt::format(
      "{}: with [potential] kind = \"program\" the forces come from a program, such as Python's "
      "tarn.run(deck, potential=f); for `tarn run` use kind = \"library\" or \"socket\"",
      deck.path));
}

}  // namespace tarn
