#include "deck/source.hpp"
#include "physics/model_table.hpp"
#include "recorded_potential.hpp"
#include "tarn/check_potential.hpp"
#include "tarn/core/number.hpp"
#include "tarn/deck_potential.hpp"
#include "tarn/potential.h"
#include "tarn/start.hpp"
#include "testing.hpp"

/// @file
/// Potentials of shared libraries, of decks, and the comparison of forces with energies.
/// tests/potentials contains the libraries.

namespace tarn {
namespace {

using namespace test;

std::string library(const std::string& name) {
  return std::string(TARN_POTENTIALS "/lib") + name + ".so";
}

/// Energies and forces, NaN before the call.
struct Results {
  std::vector<double> energies, forces;
};
Results results_of(Potential& potential, const std::vector<double>& positions_A,
                   std::size_t images) {
  std::vector<std::int64_t> ids(images);
  std::iota(ids.begin(), ids.end(), 0);
  Results r{std::vector<double>(images, kNoNumber),
            std::vector<double>(positions_A.size(), kNoNumber)};
  potential.compute(positions_A, ids, r.energies, r.forces);
  return r;
}

TEST(LibraryPotential, ComputesEnergiesAndForcesOfEachImage) {
  const auto potential = make_library_potential(library("flexible_water"), "1000", 2);
  EXPECT_EQ(potential->name(), "library libflexible_water.so (1000)");
  // Two molecules 3 A apart with one bond 0.1 A too long: an image, and it without the long bond.
  const std::vector<double> rigid{0, 0, 0, 0.9572, 0, 0, -0.23999, 0.92663, 0,
                                  3, 0, 0, 3.9572, 0, 0, 2.76001,  0.92663, 0};
  std::vector<double> x = rigid;
  x[4] = 0.0;
  x[3] += 0.1;
  x.insert(x.end(), rigid.begin(), rigid.end());
  const Results r = results_of(*potential, x, 2);
  const double s6 = std::pow(2.6 / 3.0, 6.0);
  const double lj = 4.0 * 2.0 * (s6 * s6 - s6);
  // The H-H distance of the second image is 1.5139 A to 1e-5 A.
  EXPECT_NEAR(r.energies[1], lj, 1e-6);
  const double hh = std::hypot(1.0572 + 0.23999, 0.92663);
  EXPECT_NEAR(r.energies[0], lj + 0.5 * 1000.0 * 0.01 + 0.5 * 200.0 * std::pow(hh - 1.5139, 2),
              1e-3);
  for (const double f : r.forces) EXPECT_TRUE(std::isfinite(f));
  // An image alone has the same bits as in a batch.
  const Results alone = results_of(*potential, rigid, 1);
  EXPECT_EQ(alone.energies[0], r.energies[1]);
  EXPECT_TRUE(std::equal(alone.forces.begin(), alone.forces.end(), r.forces.begin() + 18));
  // No image: no call.
  EXPECT_TRUE(results_of(*potential, {}, 0).energies.empty());
  EXPECT_THROW(results_of(*potential, std::vector<double>(9), 1), InputError);
}

TEST(LibraryPotential, NameDependsOnFileAndOptionsOnly) {
  EXPECT_EQ(library_potential_name("./a/libmine.so", ""), "library libmine.so");
  EXPECT_EQ(library_potential_name("/b/libmine.so", "k = 1"), "library libmine.so (k = 1)");
  // Names are part of single lines of files.
  EXPECT_EQ(library_potential_name("libmine.so", "k = 1\nf = \"a\""),
            "library libmine.so (k = 1 f = 'a')");
}

TEST(LibraryPotential, RefusesLibrariesThatItCannotUse) {
  const ScratchFolder folder;
  const std::string text = folder.file("libtext.so");
  write_text(text, "no library\n");
  const std::string version = "version " + std::to_string(TARN_POTENTIAL_VERSION);
  for (const auto& [path, options, words] : std::vector<std::array<std::string, 3>>{
           {"/nowhere/libmine.so", "", "there is no file /nowhere/libmine.so"},
           {TARN_POTENTIALS, "", "there is no file"},
           {library("broken_symbol"), "", "_symbol.so has no function tarn_potential_compute"},
           {library("broken_version"), "", "version 42"},
           {library("broken_version"), "", version},
           {library("broken"), "refuse", "(refuse) did not open: no parameters for 7 molecules"},
           {library("broken"), "refuse silently", "did not open without a message"},
           {library("flexible_water"), "soft", "\"soft\" is not a positive"},
           {library("broken_link"), "", "a_function_that_nothing_defines"},
           {text, "", "libtext.so cannot be loaded"}}) {
    expect_throws<InputError>({words}, [&] { make_library_potential(path, options, 7); });
  }
}

/// Its open() loads an extension module, which needs the symbols of Python.
TEST(LibraryPotential, LibrariesMayEmbedPython) {
  EXPECT_NO_THROW(make_library_potential(library("embeds_python"), "", 1));
}

TEST(LibraryPotential, StatusEndsTheCallWithTheWordsOfTheLibrary) {
  const std::vector<double> x(27, 0.0);
  const auto failure = [&](const std::string& options) {
    const auto potential = make_library_potential(library("broken"), options, 1);
    return message_of<NumericalError>([&] { results_of(*potential, x, 3); });
  };
  EXPECT_TRUE(contains(failure("status"),
                       "libbroken.so failed with status 12: SCF of image 2 did not converge"));
  EXPECT_TRUE(contains(failure("long"), "failed with status -1: xxx"));
  const std::string escape = failure("escape");
  EXPECT_TRUE(contains(escape, "failed with status 12: no memory  000"));
  EXPECT_TRUE(escape.ends_with("000..."));
  EXPECT_LT(escape.size(), 400u);
  // What a library leaves out stays NaN.
  const auto silent = make_library_potential(library("broken"), "", 1);
  EXPECT_TRUE(std::isnan(results_of(*silent, x, 3).forces[0]));
}

Deck deck_with(const std::string& potential, const std::string& more = "") {
  return parse_deck("[system]\nmolecules = 5\n[integrator]\nscheme = \"verlet\"\n" + potential +
                        "[run]\nsteps = 10\n" + more,
                    TARN_POTENTIALS "/deck.toml");
}

const std::string kLibrary =
    "[potential]\nkind = \"library\"\npath = \"./libflexible_water.so\"\noptions = ";

TEST(DeckPotential, PathIsRelativeToTheDeck) {
  const Deck deck = deck_with(kLibrary + "\"900\"\n");
  EXPECT_EQ(potential_text(deck), "library libflexible_water.so (900)");
  const auto potential = make_potential(deck, 5);
  ASSERT_NE(potential, nullptr);
  EXPECT_EQ(potential->name(), potential_text(deck));
}

TEST(DeckPotential, OtherRanksMakeTheSame) {
  const Deck deck = deck_with(kLibrary + "\"900 \\n x\"\n");
  const auto first = make_potential(deck, 2);
  const auto second = potential_of_rank(first->recipe(), 1);
  EXPECT_EQ(second->name(), first->name());
  EXPECT_EQ(second->name(), potential_text(deck));
  const std::vector<double> x = clusters(2, 1);
  EXPECT_EQ(results_of(*first, x, 1).energies, results_of(*second, x, 1).energies);
}

TEST(DeckPotential, ModelHasNone) {
  for (const char* section : {"", "[potential]\nkind = \"model\"\n"}) {
    const Deck deck = deck_with(section);
    EXPECT_EQ(make_potential(deck, 5), nullptr);
    EXPECT_EQ(potential_text(deck), "");
  }
  // Another address is no other potential.
  const Deck clients = deck_with("[potential]\nkind = \"socket\"\naddress = \"unix:mbx\"\n");
  EXPECT_EQ(potential_text(clients), "i-PI clients");
}

TEST(SocketAddress, Forms) {
  using decks::socket_address;
  EXPECT_EQ(socket_address("unix:driver")->unix_name, "driver");
  EXPECT_EQ(socket_address("unix:/run/a:b")->unix_name, "/run/a:b");
  for (const auto& [text, host, port] :
       {std::tuple("localhost:31415", "localhost", 31415), {"[::1]:80", "::1", 80}}) {
    EXPECT_EQ(socket_address(text)->host, host);
    EXPECT_EQ(socket_address(text)->port, port);
  }
  for (const char* text : {"", "unix:", "localhost", "localhost:", ":31415", "localhost:0",
                           "localhost:65536", "localhost:1x", "::1:80", "a b:80", "[]:80"}) {
    EXPECT_FALSE(socket_address(text)) << text;
  }
  EXPECT_FALSE(socket_address("unix:" + std::string(99, 'x')));
}

constexpr double kElectronvolt = 23.0605;  // in kcal/mol
constexpr double kHartree = 627.5095;

/// The flexible water model as a potential whose results `change` changes: wrong factors, signs and
/// orders.
template <class Change>
PotentialCheck check_of(const Change& change, int molecules = 5,
                        const PotentialCheckOptions& options = {}) {
  const auto potential = potential_of(molecules);
  potential->change = [&](auto, auto energies, auto forces) { change(energies, forces); };
  return check_potential(*potential, quenched_cluster(flexible(), molecules, 3, 0), options);
}
void multiply(std::span<double> numbers, double factor) {
  for (double& x : numbers) x *= factor;
}
/// Changes units.
auto multiplied(double of_energies, double of_forces) {
  return [=](auto energies, auto forces) {
    multiply(energies, of_energies);
    multiply(forces, of_forces);
  };
}

TEST(PotentialCheck, CorrectPotentialHasNoMessages) {
  for (const int molecules : {1, 5, 11}) {
    const PotentialCheck check = check_of(multiplied(1.0, 1.0), molecules);
    EXPECT_TRUE(check.forces_agree());
    EXPECT_TRUE(check.messages.empty()) << check.messages[0].text;
    EXPECT_EQ(check.coordinates, 9 * std::min(molecules, 10));
    EXPECT_EQ(check.images, 2u + 2u * static_cast<std::size_t>(check.coordinates) +
                                6u * static_cast<std::size_t>(std::min(molecules, 10)));
    // Bonds 0.03 A too long at stiffness of 1000: of the order of 30 kcal/mol/A.
    EXPECT_GT(check.largest_force_kcal_per_mol_A, 10.0);
    // h² f''/6 with f'' = 7000: 0.03.
    EXPECT_LT(check.largest_difference_kcal_per_mol_A, 0.1);
    // Hydrogen bonds soften some bonds. The antisymmetric stretch of a free molecule is exact but
    // for a rotation in it and the anharmonicity over 0.005 A, some 1e-4 each.
    const double free_per_cm = molecule_wavenumbers_per_cm(flexible()).back();
    EXPECT_GT(check.oh_wavenumber_per_cm, (molecules == 1 ? 0.998 : 0.95) * free_per_cm);
    EXPECT_LT(check.oh_wavenumber_per_cm, 1.02 * free_per_cm);
    EXPECT_FALSE(check.depends_on_batch);
  }
}

/// The warning of a changed potential.
template <class Change>
std::string warning_of(const Change& change) {
  const PotentialCheck check = check_of(change);
  EXPECT_FALSE(check.forces_agree());
  EXPECT_FALSE(check.messages.empty());
  return check.messages.empty() ? std::string() : check.messages[0].text;
}

TEST(PotentialCheck, NamesWrongUnitsSignsAndOrders) {
  const struct {
    double of_energies, of_forces;
    const char* words;
  } factors[] = {{1.0, 1.0 / kElectronvolt, "energies in kcal/mol and forces in eV/A"},
                 {1.0, units::kilojoules_per_kcal, "energies in kcal/mol and forces in kJ/mol/A"},
                 {1.0 / kHartree, units::angstrom_per_bohr / kHartree,
                  "in hartree and forces in hartree/bohr"},
                 {1.0, -1.0, "the sign"},
                 {1.0, -1.0 / kElectronvolt, "the sign"},
                 {1.0, -1.0 / kElectronvolt, "forces in eV/A"},
                 {0.0, 1.0, "an energy of fewer terms"}};
  for (const auto& [of_energies, of_forces, words] : factors) {
    EXPECT_TRUE(contains(warning_of(multiplied(of_energies, of_forces)), words));
  }
  EXPECT_FALSE(contains(warning_of(multiplied(1.0, -1.0)), "forces in "));
  const auto hydrogens_first = [](auto, std::span<double> f) {
    for (std::size_t m = 0; m < f.size(); m += 9) std::rotate(&f[m], &f[m] + 3, &f[m] + 9);
  };
  EXPECT_TRUE(contains(warning_of(hydrogens_first), "forces in the order H1, H2, O"));
}

TEST(PotentialCheck, NotesResultsThatDependOnTheBatch) {
  const PotentialCheck check = check_of([](std::span<double> e, auto) {
    for (double& energy : e) energy += 1e-12 * static_cast<double>(e.size());
  });
  EXPECT_TRUE(check.depends_on_batch);
  ASSERT_EQ(check.messages.size(), 1u);
  EXPECT_EQ(check.messages[0].level, Level::note);
  EXPECT_TRUE(contains(check.messages[0].text, "the results of an image depend on the batch"));
}

/// A call takes `call_s` and `image_s` per image, and the first one longer.
TEST(PotentialCheck, EstimatesTheTimeOfBatchesOfEachSize) {
  for (const double call_s : {0.0, 1e-6, 5.0}) {
    for (const double image_s : {1e-7, 0.01, 60.0}) {
      double now_s = 1000.0;
      bool is_first = true;
      const auto takes_time = [&](std::span<double> energies, auto) {
        now_s += call_s + image_s * static_cast<double>(energies.size());
        if (std::exchange(is_first, false)) now_s += 30.0;
      };
      PotentialCheckOptions options;
      options.clock_s = [&] { return now_s; };
      const PotentialCheck check = check_of(takes_time, 2, options);
      for (const std::int64_t images : {1, 2, 32, 1024}) {
        const double expected = call_s + image_s * static_cast<double>(images);
        // The clock is rounded to 1e-13 s, and its difference to 1e-9 of it per image at most.
        EXPECT_NEAR(check.seconds_of(images), expected, 1e-3 * expected) << call_s << image_s;
      }
    }
  }
}

TEST(PotentialCheck, NumbersThatAreNotFiniteAreErrors) {
  expect_throws<NumericalError>({"an energy of nan for the start structure"},
                                [] { check_of([](auto e, auto) { e[0] = kNoNumber; }); });
  expect_throws<NumericalError>({"a force of inf on H1 of molecule 1"},
                                [] { check_of([](auto, auto f) { f[12] = HUGE_VAL; }); });
}

TEST(PotentialCheck, ExampleOfTheDocumentation) {
  const Deck deck = load_deck(TARN_SOURCE_DIR "/docs/library/flexible_water.toml",
                              {"potential.path=" + library("flexible_water")});
  const auto potential = make_potential(deck, 5);
  const State start = make_start(deck).state;
  const PotentialCheck check =
      check_potential(*potential, std::span(start.positions_A).first(start.coordinates()));
  EXPECT_TRUE(check.messages.empty()) << check.messages[0].text;
}

}  // namespace
}  // namespace tarn
