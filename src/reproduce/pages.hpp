#pragma once

#include "tarn/reproduce.hpp"

/// @file
/// Deck, words and function of each page; the table in reproduce.cpp adds name, title and cost.

namespace tarn {

// Schemes compared by one deck: comparison_pages.cpp.
Reproduction water7_oo_page();
Reproduction water7_oo_modern_page();
Reproduction water100_oo_page();
Reproduction heating_page();
Reproduction shake_tolerance_page();
Reproduction droplet32_page();
Reproduction droplet32_4fs_page();
Reproduction droplet32_gla_page();

// Water.
Reproduction multipliers_page();
Reproduction conservation_page();
Reproduction verdict_10K_page();
Reproduction verdict_298K_page();
Reproduction melting_page();
Reproduction exchange_page();
Reproduction isomers_page();
Reproduction evaporation_page();
Reproduction resonances_page();
Reproduction scheme_cost_page();
Reproduction growth_page();
Reproduction precision_page();
Reproduction spectrum_page();
Reproduction dynamics_page();
Reproduction flexible_steps_page();
Reproduction ring_steps_page();
Reproduction ring_beads_page();
Reproduction quantum_octamer_page();
Reproduction isotopes_page();
Reproduction slow_start_page();
Reproduction minima_page();

// Mechanical systems.
Reproduction double_pendulum_page();
Reproduction pendulum_stability_page();
Reproduction work_precision_page();
Reproduction penalty_limit_page();
Reproduction pendulum_chain_page();
Reproduction chain_cost_page();
Reproduction dna_page();
Reproduction magnet_page();
Reproduction slow_manifold_page();
Reproduction stiff_from_constraints_page();
Reproduction stiff_from_slow_point_page();
Reproduction stiff_projected_back_page();
Reproduction heavy_top_page();
Reproduction double_spherical_pendulum_page();
Reproduction variational_page();

}  // namespace tarn
