#include <fmt/format.h>

#include "checker.hpp"
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
         : kind == PotentialKind::model  ? "model = " + toml_string(checker.deck().system.model)
                                         : "a potential";
}

/// Of the forces of a many-body model, not of another potential.
ManyBodyModel many_body_of(const Deck& deck) {
  const std::optional<WaterModel> model = find_water_model(deck.system.model);
  const bool is_used = model && potential_kind(deck) == PotentialKind::model;
  return is_used ? model->many_body : ManyBodyModel::none;
}

/// Whether the deck has another potential, and these keys have no problem.
bool has_other(const Checker& checker, const std::vector<std::string_view>& keys) {
  return checker.is_reliable({"potential.kind"}) && checker.is_reliable(keys) &&
         potential_kind(checker.deck()) != PotentialKind::model;
}

/// The same for a deck with another potential or a many-body model.
bool has_no_pairs(const Checker& checker, std::string_view key) {
  return has_other(checker, {key}) ||
         (checker.is_reliable({"potential.kind", "system.model", key}) &&
          many_body_of(checker.deck()) != ManyBodyModel::none);
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
  checker.problem(
      "potential.address",
      "address = {} is not an address; write \"unix:NAME\", \"localhost:31415\" or \"[::1]:31415\"",
      toml_string(address));
}

void potential_supports_scheme(Checker& checker) {
  if (!has_no_pairs(checker, "integrator.scheme")) return;
  const Scheme scheme = checker.deck().integrator.scheme;
  const ManyBodyModel many_body = many_body_of(checker.deck());
  const bool may_bend = many_body != ManyBodyModel::dang_chang,
             may_be_rigid = many_body != ManyBodyModel::mbpol;
  // Rigid schemes for MB-pol are a problem of all flexible models.
  if (is_rigid(scheme) || (may_bend && scheme == Scheme::verlet)) return;
  checker.problem("integrator.scheme", "{} needs scheme = {}{}{}", kind_text(checker),
                  may_bend ? "\"verlet\"" : "", may_bend && may_be_rigid ? ", " : "",
                  may_be_rigid ? "\"shake\", \"rattle\" or \"settle\"" : "");
}

void potential_is_double(Checker& checker) {
  if (!has_no_pairs(checker, "run.precision")) return;
  const Precision precision = checker.deck().run.precision;
  const bool may_be_mixed = many_body_of(checker.deck()) == ManyBodyModel::mbpol;
  if (precision == Precision::double_ || (may_be_mixed && precision == Precision::mixed)) return;
  checker.problem("run.precision", "{} needs precision = \"double\"{}", kind_text(checker),
                  may_be_mixed ? " or \"mixed\"" : "");
}

/// Larger clusters of many-body models run on the CPU.
constexpr int kMostOnGpu = 32;

void potential_runs_on_the_cpu(Checker& checker) {
  if (!checker.deck().run.device.starts_with("cuda")) return;
  const bool other = has_other(checker, {"run.device"});
  const bool large =
      checker.is_reliable({"system.molecules"}) && checker.deck().system.molecules > kMostOnGpu;
  if (!other && !(large && has_no_pairs(checker, "run.device"))) return;
  checker.problem("run.device", "{}{} runs on the CPU; write device = \"cpu\"", kind_text(checker),
                  other ? "" : fmt::format(" with more than {} molecules", kMostOnGpu));
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
        "`settle`; of these, `mbpol` requires `verlet`, and `dang-chang` one of the others.",
        potential_supports_scheme},
       {"With a potential other than the model or a many-body model, `precision` is `double`; "
        "`mbpol` may be `mixed`.",
        potential_is_double},
       {"With a potential other than the model, or a many-body model of more than 32 molecules, "
        "`device` is `cpu` or `auto`, which is then the CPU.",
        potential_runs_on_the_cpu}});
  // Conditions of other keys read it in decks without the section too.
  Key& kind = table.keys.front();
  kind.read = [read = kind.read](const Key& self, const Deck& deck) {
    return deck.potential ? read(self, deck) : Value{std::string("model")};
  };
  return table;
}

}  // namespace tarn::decks
