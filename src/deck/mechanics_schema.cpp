#include "key_table.hpp"
#include "mechanics_rules.hpp"
#include "mechanics_schemes.hpp"

/// @file
/// The sections of decks of mechanical systems.

namespace tarn::decks {
namespace {

using Names = std::vector<std::string_view>;
using M = MechanicsDeck;
using S = MechanicsSystemSection;
using I = MechanicsIntegratorSection;

const Names kPendula{"double-pendulum", "pendulum-chain", "double-spherical-pendulum"};
const Names kPenalised{"double-pendulum", "pendulum-chain", "three-body-plane", "double-spring"};
const Names kPenaltySchemes{"verlet",
                            "zs",
                            "zss",
                            "zss-stiff",
                            "pushforward-newmark",
                            "newmark",
                            "newmark-one-step",
                            "variational-euler",
                            "midpoint",
                            "rk4",
                            "rk4-projected"};

/// The schemes that have a penalty strength.
Condition schemes_with_omega() {
  Names schemes = kPenaltySchemes;
  schemes.insert(schemes.end(), {"slow-manifold", "so3-linearised"});
  return {"integrator.scheme", schemes};
}

/// The schemes that advance in time: all but the projection.
Condition schemes_with_steps() {
  static const std::vector<Choice> all = mechanics_schemes();
  Condition condition{"integrator.scheme"};
  for (const Choice& scheme : all) {
    if (scheme.text != "slow-manifold") condition.choices.push_back(scheme.text);
  }
  return condition;
}

constexpr Range kAny{};
constexpr Range kPositive = above(0.0);
/// Of masses, lengths and moments of inertia. Outside, coordinates overflow within a few steps.
constexpr Range kMagnitude = from_to(1e-6, 1e6);

Key list_of_numbers(std::string_view name, Range range, std::string_view default_text,
                    std::string_view description, Condition used_with,
                    std::vector<Condition> also_used_with = {}) {
  return {.name = name,
          .type = Type::numbers,
          .range = range,
          .default_text = default_text,
          .description = description,
          .used_with = std::move(used_with),
          .also_used_with = std::move(also_used_with)};
}

std::vector<Key> point_keys() {
  const Condition pendula{"system.kind", kPendula};
  const Condition weighted{
      "system.kind",
      {"double-pendulum", "pendulum-chain", "double-spherical-pendulum", "spherical-pendulum"}};
  return {
      kind_key(),
      field_key<&M::system, &S::n>(
          {.name = "n",
           .type = Type::integer,
           .range = from_to(1, static_cast<double>(kMaxMechanicsSize)),
           .default_text = "2, 10 or 200",
           .description = "Number of points or bases.",
           .used_with = {"system.kind", {"double-pendulum", "pendulum-chain", "dna"}},
           .zero_means_absent = true}),
      field_key<&M::system, &S::masses>(
          list_of_numbers("masses", kMagnitude, "all 1", "Mass of each point.", pendula)),
      field_key<&M::system, &S::lengths>(list_of_numbers(
          "lengths", kMagnitude, "1 and √2, or all √5", "Length of each rod.", pendula)),
      field_key<&M::system, &S::gravity>(
          {.name = "gravity",
           .type = Type::number,
           .description = "V = gravity Σ m y (spherical pendula: gravity Σ m z).",
           .used_with = weighted}),
  };
}

std::vector<Key> dna_keys() {
  const Condition dna{"system.kind", {"dna"}};
  return {
      field_key<&M::system, &S::a>({.name = "a",
                                    .type = Type::number,
                                    .range = {.low = 0.0},
                                    .description = "U(θ) = (exp(-a [1 - cos θ - x0]) - 1)².",
                                    .used_with = dna}),
      field_key<&M::system, &S::x0>({.name = "x0",
                                     .type = Type::number,
                                     .description = "Parameter of U, see `a`.",
                                     .used_with = dna}),
      field_key<&M::system, &S::epsilon>(
          {.name = "epsilon",
           .type = Type::number,
           .range = {.low = 0.0},
           .default_text = "1/1400",
           .description = "V = Σ ½ (θ_{k+1} - θ_k)² + epsilon U(θ_k).",
           .used_with = dna}),
      field_key<&M::system, &S::ends>(
          {.name = "ends",
           .type = Type::choice,
           .choices = {{"periodic", code(DnaEnds::periodic),
                        "the last base is a neighbour of the first"},
                       {"free", code(DnaEnds::free), "both ends are free"}},
           .description = "Boundary condition of the strand.",
           .used_with = dna}),
      field_key<&M::system, &S::noise>(
          {.name = "noise",
           .type = Type::choice,
           .choices = {{"normal", code(DnaNoise::normal), "standard normal random numbers"}},
           .description = "ξ of the start θ_k = 0.8 + 0.1 ξ_k.",
           .used_with = dna,
           .also_used_with = {{"system.xi"}, {"system.position"}}}),
      field_key<&M::system, &S::seed>({.name = "seed",
                                       .type = Type::integer,
                                       .range = at_least(0),
                                       .description = "Seed of ξ.",
                                       .used_with = dna,
                                       .also_used_with = {{"system.xi"}, {"system.position"}}}),
      field_key<&M::system, &S::xi>(
          list_of_numbers("xi", kAny, "random", "ξ of each base.", dna, {{"system.position"}})),
  };
}

std::vector<Key> start_keys() {
  const Condition with_start{"system.kind",
                             {"double-pendulum", "pendulum-chain", "dna", "three-body-plane",
                              "double-spring", "double-spherical-pendulum", "spherical-pendulum"}};
  const Condition spring{"system.kind", {"double-spring"}};
  return {
      field_key<&M::system, &S::position>(
          list_of_numbers("position", kAny, "those of the paper, along rods of the given `lengths`",
                          "Positions at the start, in the order of `q0`... in `trajectory.csv`. "
                          "The length of a `spherical-pendulum` is that of this vector.",
                          with_start)),
      field_key<&M::system, &S::velocity>(
          list_of_numbers("velocity", kAny, "those of the paper",
                          "Velocities at the start, in the same order.", with_start)),
      field_key<&M::system, &S::omega>(
          {.name = "omega",
           .type = Type::number,
           .range = above_to(0.0, 1e8),
           .default_text = "that of `[integrator]`",
           .description = "Strength of the springs; set it in one of the two sections.",
           .used_with = spring,
           .also_used_with = {schemes_with_omega()}}),
  };
}

std::vector<Key> body_keys() {
  const Condition magnet{"system.kind", {"magnet"}};
  const Condition top{"system.kind", {"heavy-top"}};
  return {
      field_key<&M::system, &S::b_mu>({.name = "b_mu",
                                       .type = Type::number,
                                       .description = "Field times dipole moment, V = b_mu R33.",
                                       .used_with = magnet}),
      field_key<&M::system, &S::rotation>(list_of_numbers(
          "rotation", kAny, "the identity", "Rotation matrix at the start, row by row.",
          {"system.kind", {"magnet", "free-body"}})),
      field_key<&M::system, &S::angular_velocity>(
          list_of_numbers("angular_velocity", kAny, "1, 0.2, 0.1",
                          "Angular velocity in the body frame at the start.", magnet)),
      field_key<&M::system, &S::alpha>(
          list_of_numbers("alpha", kMagnitude, "0.44, 0.5, 1",
                          "Diagonal of J; n numbers for a free body in n dimensions.",
                          {"system.kind", {"free-body", "heavy-top"}})),
      field_key<&M::system, &S::chi>(list_of_numbers(
          "chi", kAny, "0, 0, 1", "Unit vector from the fixed point to the centre of mass.", top)),
      field_key<&M::system, &S::c>(
          {.name = "c",
           .type = Type::number,
           .description =
               "Weight times the distance of the centre of mass from the fixed point, V = c v·chi.",
           .used_with = top}),
      field_key<&M::system, &S::momentum>(list_of_numbers(
          "momentum", kAny,
          "m_ij = cos(i + 2j); for `heavy-top` m_12 = 1.1195, m_23 = -1, which gives H = 1 with "
          "the other defaults",
          "Angular momentum in the body frame at the start: an antisymmetric matrix, row by row.",
          {"system.kind", {"free-body", "heavy-top"}})),
      field_key<&M::system, &S::direction>(
          list_of_numbers("direction", kAny, "0, 1, 0",
                          "Unit vector v of gravity in the body frame at the start.", top)),
  };
}

std::vector<Key> scheme_keys() {
  const Condition with_omega{
      "system.kind",
      {"double-pendulum", "pendulum-chain", "three-body-plane", "double-spring", "magnet"}};
  const Condition with_beta{"integrator.scheme",
                            {"zs", "zss", "zss-stiff", "pushforward-newmark", "newmark",
                             "newmark-one-step", "so3-linearised"}};
  // The other equations of a magnet have no penalty.
  const Condition of_a_magnet{"integrator.scheme", {"so3-linearised"}, "system.kind", {"magnet"}};
  return {
      field_key<&M::integrator, &I::scheme>({.name = "scheme",
                                             .type = Type::choice,
                                             .choices = mechanics_schemes(),
                                             .default_text = "required",
                                             .description = "Integration scheme."}),
      field_key<&M::integrator, &I::step>({.name = "step",
                                           .type = Type::number,
                                           .range = kPositive,
                                           .default_text = "required",
                                           .description = "Time step h.",
                                           .used_with = schemes_with_steps()}),
      field_key<&M::integrator, &I::omega>({.name = "omega",
                                            .type = Type::number,
                                            .range = above_to(0.0, 1e8),
                                            .default_text = "20, 2, 1000 or 10",
                                            .description =
                                                "Strength of the penalty ½ ω² |g|²: 20 for "
                                                "pendula, 2 for `three-body-plane`, 1000 for "
                                                "`double-spring`, 10 for `magnet`.",
                                            .used_with = with_omega,
                                            .also_used_with = {schemes_with_omega(), of_a_magnet}}),
      field_key<&M::integrator, &I::beta>(
          {.name = "beta",
           .type = Type::number,
           .range = above_to(0.0, 10.0),
           .default_text = "0.4, or 0.3 for `dna` and `three-body-plane`",
           .description = "Scheme parameter β.",
           .used_with = with_beta}),
      field_key<&M::integrator, &I::hessian>(
          {.name = "hessian",
           .type = Type::choice,
           .choices = {{"full", code(PenaltyHessian::full), "the full Hessian, as in the paper"},
                       {"gauss-newton", code(PenaltyHessian::gauss_newton),
                        "without second derivatives of the constraints; always positive definite"}},
           .description = "Hessian of the penalty in the linear solve.",
           .used_with = {"integrator.scheme", {"zss-stiff"}}}),
  };
}

std::vector<Key> method_keys() {
  const Condition projected{"integrator.scheme", {"slow-manifold", "rk4-projected"}};
  const Condition linearised{"integrator.scheme", {"so3-linearised"}};
  return {
      field_key<&M::integrator, &I::acceleration>(
          {.name = "acceleration",
           .type = Type::choice,
           .choices = {{"linearised", code(OneStepAcceleration::linearised),
                        "from the Newton iteration"},
                       {"force", code(OneStepAcceleration::force),
                        "from the force at the new positions; unstable for stiff forces"}},
           .description = "Acceleration in the update of the velocity.",
           .used_with = {"integrator.scheme", {"newmark-one-step"}}}),
      field_key<&M::integrator, &I::compose>(
          {.name = "compose",
           .type = Type::choice,
           .choices = {{"none", code(Composition::none), "no composition"},
                       {"yoshida4", code(Composition::yoshida4),
                        "three steps of the scheme: order 4"},
                       {"suzuki4", code(Composition::suzuki4),
                        "five steps of the scheme, none longer than `step`: order 4, with smaller "
                        "errors"}},
           .description = "Composition of a symmetric scheme. Use `rattle` instead of `shake`: its "
                          "positions are the same.",
           .used_with = {"integrator.scheme",
                         {"verlet", "zs", "zss", "zss-stiff", "pushforward-newmark", "newmark",
                          "midpoint", "rattle"}},
           .also_used_with = {{"system.kind",
                               {"double-pendulum", "pendulum-chain", "three-body-plane", "dna",
                                "double-spring", "double-spherical-pendulum",
                                "spherical-pendulum"}}}}),
      field_key<&M::integrator, &I::quadrature>(
          {.name = "quadrature",
           .type = Type::choice,
           .choices = {{"first-order", code(MagnetQuadrature::first_order), "one kick per step"},
                       {"trapezoidal", code(MagnetQuadrature::trapezoidal),
                        "two half kicks per step"}},
           .description = "Quadrature of the action.",
           .used_with = linearised}),
      field_key<&M::integrator, &I::a_mass>(
          {.name = "a_mass",
           .type = Type::choice,
           .choices = {{"paper", code(MagnetAMass::paper), "1, as printed"},
                       {"consistent", code(MagnetAMass::consistent), "½, the mass of the matrix"}},
           .description = "Factor of a in its equation.",
           .used_with = linearised}),
      field_key<&M::integrator, &I::tolerance>(
          {.name = "tolerance",
           .type = Type::number,
           .range = from_to(1e-15, 0.1),
           .description = "The projection stops when the constraints and their rates change by "
                          "less than this.",
           .used_with = projected}),
      field_key<&M::integrator, &I::bias>(
          {.name = "bias",
           .type = Type::number,
           .range = from_to(0.0, 0.5),
           .description = "0, or 0.5 for a self-adjoint method.",
           .used_with = {"integrator.scheme",
                         {"variational-of:euler", "variational-of:rk2", "variational-of:rk4"}}}),
  };
}

SectionTable system_section() {
  return {Section{.name = "system", .description = "The system and its start."},
          joined({point_keys(), dna_keys(), start_keys(), body_keys()})};
}

SectionTable integrator_section() {
  return {Section{.name = "integrator", .description = "The integration step."},
          joined({scheme_keys(), method_keys()})};
}

SectionTable run_section() {
  return {Section{.name = "run", .description = "Length of the run."},
          {
              steps_key<&M::run, &MechanicsRunSection::steps>({.default_text = "from `duration`",
                                                               .used_with = schemes_with_steps(),
                                                               .excludes = "duration"}),
              duration_key(
                  {.name = "duration", .range = at_least(0.0), .used_with = schemes_with_steps()}),
              field_key<&Deck::run, &RunSection::device>(
                  {.name = "device",
                   .type = Type::choice,
                   .choices = {{"auto", 0, "the CPU"},
                               {"cpu", 1},
                               {"cuda", kRejected, "mechanical systems run on the CPU"}},
                   .description = "Device of the run.",
                   .may_change_on_resume = true}),
              threads_key("As in decks of water; a step is too short for more than one thread."),
          }};
}

SectionTable trajectory_section() {
  return {
      optional_section<&MechanicsDeck::trajectory>(
          {.name = "observe.trajectory",
           .description =
               "Writes `trajectory.csv`: step, time, the scheme's internal positions `q0`... and "
               "velocities `v0`..., or the [quantities listed below](#columns-of-trajectorycsv), "
               "and with constraints the multipliers `lambda0`..., M q'' = -∇V - Gᵀλ."}),
      {
          interval_key<&M::trajectory, &ObserveMechanicsTrajectory::every>(),
          field_key<&M::trajectory, &ObserveMechanicsTrajectory::format>(
              {.name = "format",
               .type = Type::choice,
               .choices = {{"csv", code(MechanicsTrajectoryFormat::csv), "comma-separated values"}},
               .description = "File format."}),
          field_key<&M::trajectory, &ObserveMechanicsTrajectory::window>(
              {.name = "window",
               .type = Type::number,
               .range = {.low = 0.0},
               .description = "Averaging time of the multiplier ω² g of a penalty, centred on each "
                              "row and limited to the run; 0: ω² g itself.",
               .used_with = {"system.kind", kPenalised},
               .also_used_with = {{"integrator.scheme", kPenaltySchemes}}}),
      }};
}

SectionTable energies_section() {
  return {optional_section<&MechanicsDeck::energies>(
              {.name = "observe.energies",
               .description = "Writes `energies.csv` and a picture, at the positions at which the "
                              "scheme evaluates its forces; for `dna` also the mean angle."}),
          {
              interval_key<&M::energies, &ObserveMechanicsEnergies::every>(),
          }};
}

SectionTable conservation_section() {
  return {optional_section<&MechanicsDeck::conservation>(
              {.name = "observe.conservation",
               .description = "Writes `conservation.csv` and a picture: energy, momenta that the "
                              "system conserves, largest constraint violation."}),
          {
              interval_key<&M::conservation, &ObserveMechanicsConservation::every>(),
          }};
}

}  // namespace

const Schema& mechanics_schema() {
  static const Schema schema =
      make_schema({system_section(), integrator_section(), run_section(), trajectory_section(),
                   energies_section(), conservation_section(), checkpoint_section()},
                  mechanics_rules());
  return schema;
}

}  // namespace tarn::decks
