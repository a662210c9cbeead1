#include "tarn/reproduce.hpp"

#include <array>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pages.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"

namespace tarn {
namespace {

struct Row {
  const char *name, *title;
  Cost cost;
  Reproduction (*page)();
};

constexpr std::array kRows{
    Row{"water7-oo", "OO distances of seven molecules at 10 K (Tao & Owhadi, Fig. 4)",
        Cost::seconds, water7_oo_page},
    Row{"water7-oo-modern", "OO distances of seven molecules at 10 K with BAOAB", Cost::seconds,
        water7_oo_modern_page},
    Row{"multipliers", "Multipliers of the penalty and of SHAKE (Tao & Owhadi, Fig. 5)",
        Cost::seconds, multipliers_page},
    Row{"conservation", "Energy and momenta without a thermostat (Tao & Owhadi, Fig. 6)",
        Cost::seconds, conservation_page},
    Row{"water100-oo", "OO distances of a hundred molecules at 10 K (Tao & Owhadi, Fig. 7)",
        Cost::seconds, water100_oo_page},
    Row{"heating", "Heating by the full Hessian (Tao & Owhadi, section 4.3)", Cost::seconds,
        heating_page},
    Row{"shake-tolerance", "Cost of the tolerance of SHAKE, seven molecules at 10 K", Cost::seconds,
        shake_tolerance_page},
    Row{"droplet32", "A droplet of 32 molecules at 298 K with steps of 2 fs", Cost::seconds,
        droplet32_page},
    Row{"droplet32-4fs", "A droplet of 32 molecules at 298 K with steps of 4 fs", Cost::seconds,
        droplet32_4fs_page},
    Row{"droplet32-gla", "A droplet of 32 molecules at 298 K with steps of 4 fs and GLA",
        Cost::seconds, droplet32_gla_page},
    Row{"verdict-10K", "Error against cost, seven molecules at 10 K", Cost::minutes,
        verdict_10K_page},
    Row{"verdict-298K", "Error against cost, seven molecules at 298 K in a wall", Cost::minutes,
        verdict_298K_page},
    Row{"melting", "The water cube melts: heat capacity of eight molecules, TIP3P and TIP4P",
        Cost::minutes, melting_page},
    Row{"exchange", "The water cube melts, with and without replica exchange", Cost::minutes,
        exchange_page},
    Row{"isomers", "Populations of the two cubes of eight molecules, TIP3P and TIP4P",
        Cost::minutes, isomers_page},
    Row{"evaporation", "Evaporation rates of seven molecules", Cost::minutes, evaporation_page},
    Row{"resonances", "Resonances of stiff bonds by b of the Newmark step", Cost::seconds,
        resonances_page},
    Row{"scheme-cost", "Time per step by scheme", Cost::seconds, scheme_cost_page},
    Row{"growth", "Time per step and memory by the number of molecules", Cost::seconds,
        growth_page},
    Row{"precision", "Errors of forces and energy drift by precision", Cost::minutes,
        precision_page},
    Row{"spectrum", "Librations of seven molecules with SETTLE and Z&Ss", Cost::minutes,
        spectrum_page},
    Row{"dynamics", "Reorientation of molecules in a droplet by scheme and friction", Cost::minutes,
        dynamics_page},
    Row{"flexible-steps", "Z&Ss on real bonds: time steps of flexible water", Cost::minutes,
        flexible_steps_page},
    Row{"ring-steps", "Time steps of ring polymers: Cayley map and exact flow", Cost::minutes,
        ring_steps_page},
    Row{"ring-beads", "Number of beads by temperature, eight molecules", Cost::minutes,
        ring_beads_page},
    Row{"quantum-octamer", "Eight molecules with quantum and with classical nuclei", Cost::minutes,
        quantum_octamer_page},
    Row{"isotopes", "Sites of light and heavy hydrogen in eight molecules", Cost::minutes,
        isotopes_page},
    Row{"double-pendulum", "Errors of the double pendulum (Tao & Owhadi, Fig. 1)", Cost::seconds,
        double_pendulum_page},
    Row{"pendulum-stability", "Stability of schemes on the double pendulum", Cost::seconds,
        pendulum_stability_page},
    Row{"work-precision", "Errors against cost of mechanical schemes", Cost::seconds,
        work_precision_page},
    Row{"penalty-limit", "Constraints and multipliers of the penalty (Tao & Owhadi, Fig. 2)",
        Cost::seconds, penalty_limit_page},
    Row{"pendulum-chain", "A chain of ten pendula (Tao & Owhadi, Fig. 3)", Cost::seconds,
        pendulum_chain_page},
    Row{"chain-cost", "Time per step of the chain by its length", Cost::seconds, chain_cost_page},
    Row{"dna", "Opening of a DNA strand (Tao & Owhadi, Fig. 8)", Cost::seconds, dna_page},
    Row{"magnet", "The magnetised rigid body (Tao & Owhadi, Figs. 9 and 10)", Cost::seconds,
        magnet_page},
    Row{"slow-manifold", "Slow points and slow solutions (Ariel et al., Table 1, Figs. 2 and 6)",
        Cost::minutes, slow_manifold_page},
    Row{"stiff-from-constraints",
        "The stiff equations from a point on the constraints (Ariel et al., Fig. 3)", Cost::seconds,
        stiff_from_constraints_page},
    Row{"stiff-from-slow-point", "The stiff equations from a slow point (Ariel et al., Fig. 4)",
        Cost::seconds, stiff_from_slow_point_page},
    Row{"stiff-projected-back",
        "The stiff equations, projected back onto the slow manifold (Ariel et al., Fig. 5)",
        Cost::seconds, stiff_projected_back_page},
    Row{"heavy-top", "Poincaré section of the heavy top (McLachlan & Scovel, Fig. 1)",
        Cost::seconds, heavy_top_page},
    Row{"double-spherical-pendulum",
        "Error of the double spherical pendulum (McLachlan & Scovel, Fig. 2)", Cost::seconds,
        double_spherical_pendulum_page},
    Row{"slow-start", "Water started on the slow manifold (after Ariel et al.)", Cost::seconds,
        slow_start_page},
    Row{"variational", "Orders of one-step methods made variational (Patrick et al.)",
        Cost::seconds, variational_page},
    Row{"minima", "The lowest minima of two to seven rigid molecules, by water model",
        Cost::minutes, minima_page},
};

}  // namespace

const std::vector<Reproduction>& reproductions() {
  static const std::vector<Reproduction> all = [] {
    std::vector<Reproduction> pages;
    for (const Row& row : kRows) {
      Reproduction& page = pages.emplace_back(row.page());
      page.name = row.name;
      page.title = row.title;
      page.cost = row.cost;
    }
    return pages;
  }();
  return all;
}

void reproduce(const std::vector<std::string>& names, const ReproduceOptions& options) {
  std::vector<const Reproduction*> chosen;
  std::set<std::string> unknown(names.begin(), names.end());
  std::vector<std::string> known;
  for (const Reproduction& r : reproductions()) {
    known.push_back(r.name);
    if (unknown.erase(r.name) == 1 || names.empty()) chosen.push_back(&r);
  }
  if (!unknown.empty()) {
    throw InputError(fmt::format("unknown page: '{}'. Pages: {}", fmt::join(unknown, "', '"),
                                 fmt::join(known, ", ")));
  }
  // A deck that cannot be read must leave no folder behind.
  for (const Reproduction* r : chosen) {
    if (!r->deck.empty()) load_deck(options.inputs_dir + "/" + r->deck);
  }
  io::make_folder(options.out_dir);
  for (const Reproduction* r : chosen) {
    if (options.on_begin) options.on_begin(r->name);
    r->make(*r, options);
  }
}

}  // namespace tarn
