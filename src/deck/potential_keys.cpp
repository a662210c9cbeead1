#include <fmt/format.h>

#include "checker.hpp"
#include "deck_paths.hpp"
#include "water_keys.hpp"

/// @file
/// The section [potential], and what a potential other than the water model excludes.

namespace tarn::decks {
namespace {

using P = PotentialSection;

std::string kind_text(const Checker& checker) {
  const PotentialKind kind = potential_kind(checker.deck());
  return kind == PotentialKind::library  ? "[potential] kind = \"library\""
         : kind == PotentialKind::socket ? "[potential] kind = \"socket\""
                                         : "a potential";
}

/// Whether the deck has another potential, and these keys have no problem.
bool has_other(const Checker& checker, const std::vector<std::string_view>& keys) {
  return checker.is_reliable({"potential.kind"}) && checker.is_reliable(keys) &&
         potential_kind(checker.deck()) != PotentialKind::model;
}

void potential_is_complete(Checker& checker) {
  if (!has_other(checker, {})) return;
  const PotentialKind kind = potential_kind(checker.deck());
  if (kind == PotentialKind::library) {
    require_keys(checker, {"potential.path"});
  } else if (kind == PotentialKind::socket) {
    require_keys(checker, {"potential.address"});
  }
}

void address_is_valid(Checker& checker) {
  if (!checker.has("potential.address")) return;
  const std::string& address = *checker.deck().potential->address;
  if (socket_address(address)) return;
  checker.problem("potential.address",
                  fmt::format("address = {} is not an address; write \"unix:NAME\", "
                              "\"localhost:31415\" or \"[::1]:31415\"",
                              toml_string(address)));
}

void potential_supports_scheme(Checker& checker) {
  if (!has_other(checker, {"integrator.scheme"})) return;
  const Scheme scheme = checker.deck().integrator.scheme;
  if (is_rigid(scheme) || scheme == Scheme::verlet) return;
  checker.problem("integrator.scheme",
                  fmt::format("{} needs scheme = \"verlet\", \"shake\", \"rattle\" or \"settle\": "
                              "this scheme uses the bonds of the water model",
                              kind_text(checker)));
}

void potential_is_double(Checker& checker) {
  if (!has_other(checker, {"run.precision"})) return;
  if (checker.deck().run.precision == Precision::double_) return;
  checker.problem("run.precision",
                  fmt::format("{} needs precision = \"double\"", kind_text(checker)));
}

void potential_runs_on_the_cpu(Checker& checker) {
  if (!has_other(checker, {"run.device"})) return;
  if (!checker.deck().run.device.starts_with("cuda")) return;
  checker.problem("run.device",
                  fmt::format("{} runs on the CPU; write device = \"cpu\"", kind_text(checker)));
}

}  // namespace

SectionTable potential_section() {
  const Condition library{"potential.kind", {"library"}};
  const Condition socket{"potential.kind", {"socket"}};
  const Condition program{"potential.kind", {"program"}};
  SectionTable table = section(
      &Deck::potential, "potential",
      "What computes energies and forces, in one call per step for all replicas and beads. The "
      "water model then only determines the masses, the geometry of rigid molecules and the start "
      "structure; with `verlet` the molecules are as flexible as the potential has them. The wall "
      "of `[confinement]` is added. See [potentials.md](potentials.md).",
      {
          key(&P::kind, "kind",
              {{"model", PotentialKind::model, "the water model"},
               {"library", PotentialKind::library,
                "a shared library with the functions of `tarn/potential.h`"},
               {"socket", PotentialKind::socket,
                "programs that connect to `address` and compute forces by the protocol of i-PI"},
               {"program", PotentialKind::program,
                "the program that runs the deck, such as `tarn.run(deck, potential=f)` of Python"}},
              "Potential."),
          key(&P::path, "path", kAny, "Path of the library, relative to the deck.",
              {.default_text = "required with `library`", .used_with = {library}}),
          key(&P::options, "options", Type::text,
              "Text for the library, whose documentation describes it.", {.used_with = {library}}),
          key(&P::address, "address", Type::text,
              "Address at which tarn listens: `unix:NAME` for the UNIX socket `/tmp/ipi_NAME`, as "
              "in i-PI and ASE, or `host:port`, with an IPv6 address in brackets.",
              {.default_text = "required with `socket`",
               .used_with = {socket},
               .may_change_on_resume = true}),
          key(&P::name, "name", Type::text,
              "Name of the potential of the program, which writes it here. A run can only be "
              "resumed with a potential of the same name.",
              {.used_with = {program}}),
          key(&P::clients, "clients", from_to(1, 1024),
              "Largest number of connected programs, each of which computes one image at a time. "
              "The run starts with the first one.",
              {.used_with = {socket}, .may_change_on_resume = true}),
          key(&P::timeout_s, "timeout_s", above_to(0, 1e9),
              "Longest time without a connected program, and without an answer of a program.",
              {.used_with = {socket}, .may_change_on_resume = true}),
      },
      {{"`kind = \"library\"` requires `path`, and `\"socket\"` requires `address`.",
        potential_is_complete},
       {"`address` is `unix:NAME`, `host:port` or `[IPv6]:port`.", address_is_valid},
       {"A potential other than the model requires `scheme` `verlet`, `shake`, `rattle` or "
        "`settle`.",
        potential_supports_scheme},
       {"With a potential other than the model, `precision` is `double`.", potential_is_double},
       {"With a potential other than the model, `device` is `cpu` or `auto`, which is then the "
        "CPU.",
        potential_runs_on_the_cpu}});
  // Conditions of other keys read it in decks without the section too.
  Key& kind = table.keys.front();
  kind.read = [read = kind.read](const Key& self, const Deck& deck) {
    return deck.potential ? read(self, deck) : Value{std::string("model")};
  };
  return table;
}

}  // namespace tarn::decks
