#pragma once

#include "tarn/reproduce.hpp"

namespace tarn {

/// TO Fig. 1: errors of the double pendulum's second point.
void make_double_pendulum_figure(const Reproduction& r, const ReproduceOptions& options);
/// TO Fig. 2: constraints against omega, multipliers against time and their errors against omega.
void make_penalty_figure(const Reproduction& r, const ReproduceOptions& options);
/// TO Fig. 3: the last point of a chain of pendula, and errors of all.
void make_chain_figure(const Reproduction& r, const ReproduceOptions& options);
/// What a step costs by the number of points of a chain.
void make_chain_cost_figure(const Reproduction& r, const ReproduceOptions& options);
/// TO Fig. 8: mean angle, energy and phase portrait of the DNA model.
void make_dna_figure(const Reproduction& r, const ReproduceOptions& options);

/// AST Table 1 and Figs. 2 and 6: projections onto the slow manifold, errors against step and cost.
void make_slow_manifold_figure(const Reproduction& r, const ReproduceOptions& options);
/// AST Figs. 3, 4 and 5: errors of the stiff equations against their cost, from a point on the
/// constraints, from a slow point, and put back onto the slow manifold at t = 1, 2, ..., 9.
void make_stiff_from_constraints_figure(const Reproduction& r, const ReproduceOptions& options);
void make_stiff_from_slow_point_figure(const Reproduction& r, const ReproduceOptions& options);
void make_stiff_projected_back_figure(const Reproduction& r, const ReproduceOptions& options);
/// TO Figs. 9 and 10: snapshots and errors of the magnetised body.
void make_magnet_figure(const Reproduction& r, const ReproduceOptions& options);
/// MS Fig. 1: Poincaré section of the heavy top.
void make_heavy_top_figure(const Reproduction& r, const ReproduceOptions& options);
/// PCSZ: orders of one-step methods made variational.
void make_variational_figure(const Reproduction& r, const ReproduceOptions& options);
/// MS Fig. 2: errors of the double spherical pendulum.
void make_spherical_figure(const Reproduction& r, const ReproduceOptions& options);

}  // namespace tarn
