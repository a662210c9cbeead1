#pragma once

#include <memory>

#include "dynamics.hpp"
#include "systems.hpp"

/// @file
/// Variational integrators for constrained systems from any explicit one-step method. PCSZ is
/// Patrick, Cuell, Spiteri & Zhang 2009.

namespace tarn::papers {

/// The one-step method, PCSZ's standard layer. rk2 is the explicit midpoint rule.
enum class Layer { euler, rk2, rk4 };

/// PCSZ's symplectic layer without its Stage 4. The state is a point q̄ on the constraints and a
/// tangential momentum μ. A step finds the tangent (q, v) with ∂⁻(q, v) = q̄ and p⁻ = μ, where
///
///     ∂± = P∘R^q at the times h α±,    DL_h = p⁺ D∂⁺ - p⁻ D∂⁻ on T_(q,v)TQ,
///
/// equation (52). P projects along Gᵀ, and L_h is the action computed by the layer R. Then
/// (q̄, μ) ← (∂⁺, p⁺). The order is that of the layer.
/// @param pendula a spherical pendulum or a planar double pendulum
/// @param bias α⁺ = 1 - bias, α⁻ = -bias: 0, or ½, which makes the method self-adjoint
std::unique_ptr<Dynamics> make_variational_of(const Pendula& pendula, Layer layer, double h,
                                              double bias);

}  // namespace tarn::papers
