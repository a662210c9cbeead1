#include "tarn/reproduce.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "cost_figures.hpp"
#include "dynamics_figure.hpp"
#include "evaporation_figure.hpp"
#include "figure_page.hpp"
#include "figures.hpp"
#include "isomers_figure.hpp"
#include "mechanics_figures.hpp"
#include "melting_figure.hpp"
#include "minima_figure.hpp"
#include "precision_figure.hpp"
#include "resonance_figure.hpp"
#include "spectrum_figure.hpp"
#include "stability_figure.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/io_error.hpp"
#include "verdict.hpp"
#include "work_folder.hpp"
#include "work_precision_figure.hpp"

namespace tarn {
namespace {

std::string value_and_error(const analysis::MeanError& value, int digits) {
  return fmt::format("{:.{}f} ± {:.{}f}", value.mean, digits, value.error, digits);
}

std::string page(const Reproduction& r, const CompareResult& result) {
  std::string text = page_head(r) + fmt::format(", {} steps.\n\n", result.schemes.front().steps);
  const double first = result.schemes.front().steps_per_second;
  text +=
      "| scheme | speed | iterations | T (K) | T of translation, rotation, bonds (K) | "
      "⟨V₀⟩ (kcal/mol) | τ of V₀ (ps) | independent samples | largest \\|g\\| (Å²) | mean OO "
      "(Å) | OO: total variation | of noise | stopped |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  const double first_samples = result.schemes.front().independent_samples_per_second;
  for (const SchemeResult& s : result.schemes) {
    const std::string bond = s.bond_K.mean > 0.0 ? fmt::format("{:.2f}", s.bond_K.mean) : "–";
    text += fmt::format(
        "| `{}` | {:.2f} | {} | {} | {:.2f}, {:.2f}, {} | {} | {:.2g} | {:.2g} | {:.1e} | {:.4f} | "
        "{} | {} | {} |\n",
        s.label, s.steps_per_second / first,
        s.iterations_per_step > 0.0 ? fmt::format("{:.1f}", s.iterations_per_step) : "–",
        value_and_error(s.temperature_K, 2), s.translation_K.mean, s.rotation_K.mean, bond,
        value_and_error(s.potential_kcal_per_mol, 3), s.autocorrelation_ps,
        s.independent_samples_per_second / first_samples, s.constraint_max_A2, s.oo_mean_distance_A,
        &s == &result.schemes.front()
            ? "–"
            : value_and_error({s.oo_total_variation, s.oo_total_variation_err}, 4),
        &s == &result.schemes.front() ? "–" : fmt::format("{:.4f}", s.oo_total_variation_noise),
        s.blow_ups.size());
  }
  text +=
      "\nSpeed is that of whole steps, as a ratio to the first scheme in the same run; so is the "
      "number of independent samples of V₀ a second, speed over twice its autocorrelation time. "
      "That time is known poorly: between seeds it scatters threefold, and more where there are "
      "few "
      "independent samples. The total variation of the "
      "histogram of OO distances is against the first scheme, and below that of noise nothing can "
      "be "
      "seen.\n";
  return text;
}

void move_file(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  if (error) io::throw_io_error("write", to, error.value());
}

}  // namespace

const std::vector<Reproduction>& reproductions() {
  static const std::vector<Reproduction> all{
      {"water7-oo",
       "OO distances of seven molecules at 10 K (Tao & Owhadi, Fig. 4)",
       "water7.toml",
       {},
       {"shake", "settle", "zss-stiff", "zss-stiff:omega=500", "zss-stiff:omega=20"},
       "SHAKE and simplified Z&Ss (omega = 20) give nearly the same histogram; SHAKE took 8.7 "
       "times "
       "as long.",
       "With omega = 500 the histogram is that of SHAKE within the noise, and with 100 it is "
       "off by 0.007, as a longer run says ([here](water7-oo-modern.md)). With the paper's "
       "omega = 20 the bonds give way: the energy is 6 kcal/mol lower, and distances are "
       "shorter. SHAKE by Newton's iteration costs about as much as the pair forces, so the "
       "ratio of the times is far from the paper's."},
      {
          "water7-oo-modern",
          "The same with BAOAB and a friction that mixes",
          "water7-modern.toml",
          {},
          {"settle", "shake", "zss-stiff", "zss-stiff:omega=500", "zss-stiff:omega=20",
           "settle:timestep_fs=4"},
          "One run of 489 ps with a friction of 0.01 Da per unit of time, which an oxygen feels "
          "within "
          "some 80 ps.",
          "A friction of 5/ps gives far more independent samples a second; the histograms and "
          "⟨V₀⟩ are the same.",
      },
      {"multipliers",
       "Multipliers of the penalty and of SHAKE (Tao & Owhadi, Fig. 5)",
       "multipliers7.toml",
       {},
       {"zss-stiff", "rattle"},
       "The mean of the penalty's multiplier over a window of 0.2 units of time is that of SHAKE; "
       "omega = 500.",
       "The same. The window matters less than in the paper: the multiplier that Z&Ss solves for "
       "is already free of the fast oscillation, which a step of this length does not resolve.",
       make_multipliers_figure},
      {"conservation",
       "Energy and momenta without a thermostat (Tao & Owhadi, Fig. 6)",
       "conservation7.toml",
       {},
       {"zss-stiff", "zss-stiff:omega=500", "shake:tolerance=1e-12", "settle",
        "pushforward-newmark", "zss-stiff:hessian=full", "newmark-one-step",
        "newmark-one-step:hessian=full"},
       "Simplified Z&Ss keeps energy and momenta better than Newmark's method with one step of "
       "Newton's.",
       "The same, and more: with the Gauss-Newton Hessian, Z&Ss keeps both momenta to round-off "
       "as the constraint methods do. With the full Hessian it loses angular momentum.",
       make_conservation_figure},
      {"water100-oo",
       "OO distances of a hundred molecules at 10 K (Tao & Owhadi, Fig. 7)",
       "water100.toml",
       {},
       {"shake", "zss-stiff", "zss-stiff:omega=20"},
       "The histograms agree; SHAKE took 1.4 times as long.",
       "With omega = 100 no difference from SHAKE's histogram can be seen: the total variation is "
       "0.012, of equal distributions it would be 0.008, and less than twice that says nothing. "
       "With omega = 20 it is 0.031, and ⟨V₀⟩ is 12 % lower. Pair forces are nearly all of the "
       "time, so the schemes differ little in speed. Averages leave out the first 150 ps: the "
       "start is a minimum, which takes half of the heat, and the paper's friction brings it back "
       "over some 30 ps."},
      {"heating",
       "The full Hessian heats (Tao & Owhadi, section 4.3)",
       "heating7.toml",
       {},
       {"zss-stiff:hessian=gauss-newton", "zss-stiff:hessian=full",
        "zss-stiff:hessian=full:beta=0.3"},
       "Uses the full Hessian of the penalty at these parameters, and does not mention a "
       "temperature.",
       "With the full Hessian the translation is far above the 10.06 K of the thermostat. The "
       "Gauss-Newton form, otherwise the same, is not."},
      {"shake-tolerance",
       "What the tolerance of SHAKE costs, seven molecules at 10 K",
       "water7.toml",
       {},
       {"settle", "shake:tolerance=1e-3", "shake:tolerance=1e-5", "shake:tolerance=1e-8",
        "shake:tolerance=1e-12", "shake:tolerance=1e-5:iteration=sweeps",
        "shake:tolerance=1e-8:iteration=sweeps"},
       "Tolerances of 1e-6 on the unknowns and 1e-10 on the function; 91 % of the time of SHAKE "
       "went "
       "into nonlinear solves.",
       "Newton's iteration doubles the digits each time, so a tighter tolerance costs little. The "
       "classical sweep pays for each digit."},
      {"droplet32",
       "A droplet of 32 molecules at 298 K: steps of 2 fs",
       "droplet32.toml",
       {},
       {"settle", "rattle", "shake", "zss-stiff", "zss-stiff:omega=500", "zss-stiff:omega=20"},
       "No such run.",
       "Rigid schemes agree: SETTLE and RATTLE differ by 0.7 ± 0.3 kcal/mol, and SHAKE with BAOAB "
       "is RATTLE. With omega = 100 ⟨V₀⟩ is 3.1 ± 0.3 kcal/mol, 1.3 %, below SETTLE's, and the "
       "penalty is not all of it: 1.8 ± 0.4 are there with omega = 500 too, and are the error of "
       "the step of 2 fs; the other 1.3 ± 0.4, 0.5 %, are the penalty's. Of [seven "
       "molecules](verdict-298K.md) it is 0.36 ± 0.03 and 0.17 ± 0.04."},
      {"droplet32-4fs",
       "The same with steps of 4 fs",
       "droplet32.toml",
       {"integrator.timestep_fs=4"},
       {"settle", "zss-stiff", "zss-stiff:omega=20"},
       "No such run.",
       "SETTLE keeps ⟨V₀⟩; Z&Ss does not."},
      {"droplet32-gla",
       "The same with steps of 4 fs and the noise at the end of the step (GLA)",
       "droplet32.toml",
       {"integrator.timestep_fs=4", "thermostat.kind=gla"},
       {"settle", "zss-stiff", "zss-stiff:omega=20"},
       "No such run.",
       "With the geometric Langevin algorithm the rigid scheme drifts as well: BAOAB is the better "
       "splitting. With omega = 20 Z&Ss has no one temperature any more: translation and rotation "
       "are far above the bath and the bonds below."},
      {"verdict-10K",
       "Error against cost, seven molecules at 10 K",
       "verdict-10K.toml",
       {},
       {},
       "SHAKE took 8.7 times as long as Z&Ss for seven molecules, at one step, and with nearly the "
       "same histogram.",
       "SETTLE with BAOAB has no error that can be seen up to 8 fs. Z&Ss costs three quarters of "
       "it a step, and its error is the penalty's own (omega = 20 to 100), or that of the step "
       "(500 and infinite); the histogram of 500 is that of rigid water up to 8 fs.",
       make_verdict},
      {"verdict-298K",
       "Error against cost, seven molecules at 298 K in a wall",
       "verdict-298K.toml",
       {},
       {},
       "No such run.",
       "SETTLE with BAOAB has the smallest error for its cost; heavy hydrogens let it take 12 fs.",
       make_verdict},
      {"melting",
       "The water cube melts: heat capacity of eight molecules, TIP3P and TIP4P",
       "melting8.toml",
       {},
       {},
       "No such run.",
       "The ordered cube goes over into a liquid droplet: hydrogen bonds break, molecules change "
       "places, and the heat capacity has a peak. TIP3P's cube melts 85 K below that of TIP4P. One "
       "run of 320 clusters at twenty temperatures gives each curve, with errors. At 110 K and "
       "below TIP3P's averages are of what lies near the start: its points leave the line, since "
       "baths that are not in equilibrium do not agree. With [exchange](exchange.md) they do, and "
       "the maximum is at 118 to 119 K and 7 % lower: no error knows what was not visited.",
       make_melting_figure},
      {"exchange",
       "The water cube melts, with and without replica exchange",
       "exchange8.toml",
       {},
       {},
       "No such run.",
       "With exchange the start decides nothing: after eight round trips a state the averages from "
       "the cube and from random clusters agree at all temperatures, within 2.2 standard errors. "
       "Without it they are 1.4 kcal/mol apart at 60 K and 0.5 at 100 K, and the maxima of the "
       "heat capacity differ by a tenth. No error bar knows of what a run has not visited: "
       "without exchange, ⟨V₀⟩ at 60 K from the cube has the smallest error of all four, and is "
       "fifty such errors off. From 100 to 140 K the errors of ⟨V₀⟩ with exchange are a third to a "
       "ninth of those without.",
       make_exchange_figure},
      {"isomers",
       "The two cubes of eight molecules: shares by temperature, TIP3P and TIP4P",
       "isomers8.toml",
       {},
       {},
       "No such run.",
       "The cube D2d is TIP3P's lowest minimum, but S4, 0.26 kcal/mol above it, has twice as many "
       "copies and softer modes: at 86 K there is as much of the one as of the other, from some "
       "100 K on more of S4 (1.37 ± 0.16 times as much at 104 K), and about 115 K both melt. "
       "TIP4P's lowest is S4, by 0.03 kcal/mol, with 2.5 of it for one D2d up to 180 K. At 60 K "
       "both ratios are those of the harmonic superposition within their errors; with the "
       "temperature S4 gains more than that, and has twice its harmonic share at 300 K.",
       make_isomers_figure},
      {"evaporation",
       "How fast seven warm molecules lose the first of them",
       "evaporation7.toml",
       {},
       {},
       "No such run.",
       "Clusters in equilibrium at 220 to 325 K lose molecules at rates over two orders of "
       "magnitude, which lie on Arrhenius' line. With a friction of 0.5/ps the activation energy "
       "is 6.8 ± 0.2 kcal/mol, and equation (73) has 7.0 to 7.4, ± 0.25, at most temperatures. "
       "Most molecules get away for good with 0.1 to 0.5/ps, as Kramers has it: with less the bath "
       "is slow to heat what hot clusters leave behind, and what leaves carries less than 2 kT; "
       "with more they turn back, at 10/ps 88 % of them. SETTLE has the same rates with 4 fs to 4 "
       "%, and Z&Ss with omega = 500 and 100 to 5 %; with 20, whose bonds give way and bind more "
       "strongly, they are 0.59 ± 0.02 of that.",
       make_evaporation_figure},
      {"resonances",
       "Where stiff bonds blow up, by b of the Newmark step",
       "resonances.toml",
       {},
       {},
       "Linearly stable for every step if b is at least 1/4; of resonances nothing is said.",
       "Stiff bonds have a period of three steps at b = 1/3 and of four at 1/2; the stiffer they "
       "are, the closer they come to it. From 0.38 to 0.48 none blows up.",
       make_resonance_figure},
      {"scheme-cost",
       "The time of a step by scheme",
       "scheme-cost.toml",
       {},
       {"zss-stiff", "zss-stiff:hessian=full:omega=20", "settle", "shake", "rattle",
        "shake:iteration=sweeps", "shake:iteration=sweeps:tolerance=1e-10"},
       "SHAKE took 8.7 times as long as Z&Ss for seven molecules and 1.4 times for a hundred, with "
       "a general nonlinear solver and tolerances of 1e-6 on the unknowns and 1e-10 on the "
       "function.",
       "With Newton's iteration on the three bonds of a molecule the ratio is far smaller, and the "
       "classical sweeps lie in between. The larger the cluster, the less the scheme matters.",
       make_scheme_cost_figure},
      {"growth",
       "Time of a step and memory by the number of molecules",
       "growth.toml",
       {},
       {},
       "No such figure.",
       "All pairs: the square of the number of molecules, once the pairs are nearly all of the "
       "time.",
       make_growth_figure},
      {"precision",
       "Errors of forces and drift of energy by precision",
       "precision.toml",
       {},
       {"settle", "shake", "zss-stiff:omega=500", "zss-stiff", "zss-stiff:omega=20"},
       "No such table.",
       "Pairs in float cost nine digits of the forces and some eight of the angular momentum. The "
       "drift of energy is that of double precision, and momentum is kept as well. In single "
       "precision, with positions in fixed point, energy drifts no more either; momentum wanders "
       "by "
       "rounding, most with SHAKE, whose velocities keep a bond part.",
       make_precision_figure},
      {"spectrum",
       "Librations of seven molecules with SETTLE and Z&Ss",
       "spectrum7.toml",
       {},
       {},
       "No such run.",
       "What a step does to the dynamics. A leapfrog step turns a harmonic mode of angular "
       "frequency Ω "
       "by θ, sin θ/2 = hΩ/2, so that its line stands h²Ω²/24 of its place too high: this is what "
       "is seen of SETTLE and of Z&Ss with a large ω at 10 K. A penalty that gives way moves "
       "librations up, whatever the step, by what the normal modes of the minimum say to some 2 "
       "cm⁻¹. At 298 K the densities of Z&Ss are further from the "
       "reference than SETTLE's from 2 fs on, and at 4 fs there are too many modes, which is heat.",
       make_spectrum_figure},
      {"dynamics",
       "How fast molecules of a droplet turn, by scheme and friction",
       "dynamics32.toml",
       {},
       {},
       "No such run.",
       "SETTLE with BAOAB has the dynamics of small steps up to 4 fs, within a percent or "
       "so, and turns molecules 2 % too slowly at 6 fs and 4 to 5 % at 8 fs, which changes "
       "nothing about how long hydrogen bonds last. Z&Ss turns them 1 to 4 % too slowly at "
       "2 fs with ω = 500 and 100, and bonds last 4 to 5 % too long: that is the step, for "
       "with ω = 100 all of it is 2 % or less at 1 fs and 8 to 15 % at 4 fs. With ω = 20 "
       "it is 27 to 32 %, which is the penalty. Friction slows how molecules turn as much "
       "or more: at 1/ps O-H bonds take 10 % longer than at 0.1/ps and dipoles 30 %, at "
       "5/ps 40 and 78 %; how long bonds last hardly depends on it.",
       make_dynamics_figure},
      {"double-pendulum",
       "Errors of the double pendulum (Tao & Owhadi, Fig. 1)",
       "double-pendulum.toml",
       {},
       {"shake", "rattle", "variational-euler", "newmark", "zs", "zss", "pushforward-newmark",
        "midpoint", "newmark-one-step"},
       "Z&S and Newmark solved to the end have nearly the same error, SHAKE a smaller one, Newmark "
       "with one step a large one. Times: SHAKE 3.8 s, variational Euler 1.0, Newmark 5.3, "
       "one-step "
       "Newmark 0.2, Z&S 0.4.",
       "The same order of errors. Z&S takes one linear solve a step, SHAKE four Newton iterations "
       "of "
       "half the size, Newmark five. The sign of the potential is that of gravity pointing down; "
       "the printed one makes the pendulum stand on its head.",
       make_double_pendulum_figure},
      {"pendulum-stability",
       "How long schemes last on the double pendulum",
       "double-pendulum.toml",
       {},
       {"zs:beta=0.25", "zs:beta=0.333333", "zs:beta=0.4", "zs:beta=0.5", "zss:beta=0.333333",
        "zss:beta=0.4", "zss-stiff:hessian=gauss-newton:beta=0.333333",
        "zss-stiff:hessian=gauss-newton:beta=0.4", "pushforward-newmark", "newmark", "midpoint"},
       "Z&S is stable for linear problems with β from 1/4 on, whatever ω h. Nothing on nonlinear "
       "ones.",
       "Z&S, with its third derivative, gets energy from nowhere from ω h = 2 on, with every β; "
       "the simplified method, without it and with the whole Hessian of the penalty, from ω h = "
       "10 on. With the Hessian of Gauss and Newton and β = 0.4 it loses no start, and neither do"
       " Newmark's method solved to the end and its push-forward; with β = 1/3, where stiff "
       "motion has a period of three steps, it does. The midpoint rule is lost from ω h = 40 on. "
       "At the paper's ω h = 2 and β = 0.4, Z&S has 12 of 16 left after 10 000 steps.",
       make_stability_figure},
      {"work-precision",
       "Errors against cost of mechanical schemes",
       "three-body-plane.toml",
       {},
       {"verlet", "zs", "midpoint", "rk4", "verlet:compose=yoshida4", "verlet:compose=suzuki4",
        "midpoint:compose=suzuki4"},
       "No such comparison.",
       "With slow bonds explicit schemes are best, and from an error of 1e-2 on Suzuki's "
       "composition of Verlet lies lowest. With fast bonds Z&S with h ω = 2.5 takes a quarter of "
       "the "
       "forces of Verlet at its limit of stability, and as much time, since forces are cheap here; "
       "Verlet's error is then 60 times smaller. At 1e-5 curves are flat, whatever the order: that "
       "is the vibration of the bonds, which is wrong until a step resolves it. "
       "Energies of symmetric schemes stay where they are; those of "
       "Runge-Kutta and of Newmark's one-step method drift.",
       make_work_precision_figure},
      {"penalty-limit",
       "Constraints and multipliers of the penalty (Tao & Owhadi, Fig. 2)",
       "double-pendulum.toml",
       {},
       {},
       "ω² g at a fixed time, as a function of ω, stays bounded; the mean of ω² g over a window of "
       "0.2 follows the multiplier of SHAKE.",
       "ω² max |g| is 2.43 from ω = 20 on, and that of Z&S with h = 0.01 grows when h ω passes 1. "
       "The value at t = 50, which the paper draws, only oscillates below it. ω² g itself is some "
       "0.65 "
       "off at most, whatever ω. Its mean over 0.2 is 0.11 off at ω = 20, 0.07 at 80 and 0.04 at "
       "160, about as 1/ω, and better where a whole number of vibrations fits the window. That of "
       "Z&S is as good to ω = 28, and gets worse from 40 on.",
       make_penalty_figure},
      {"pendulum-chain",
       "A chain of ten pendula (Tao & Owhadi, Fig. 3)",
       "pendulum-chain.toml",
       {},
       {"shake", "shake:step=0.025", "zs", "zss"},
       "SHAKE and Z&S agree well; SHAKE with the same step took 8.1 s, with half of it 16.5 s, and "
       "Z&S 1.1 s.",
       "They agree: no two of the four can be told apart in the coordinates. The error of SHAKE is "
       "0.0032, and a quarter of that with h = 0.025; that of Z&S is 0.034, ten times SHAKE's, and "
       "the penalty's: no shorter step makes it smaller. With banded solves the ratio of the times "
       "is far smaller than with a general nonlinear solver.",
       make_chain_figure},
      {"chain-cost",
       "Time of a step of the chain by its length",
       "pendulum-chain.toml",
       {},
       {"zs", "zss", "shake", "rattle"},
       "No such table. Solves are said to take O(N) time for water, whose Hessian is dominated by "
       "blocks; of the chain nothing is said.",
       "The solves are banded, so that from 100 to 10 000 points a step of Z&S and of the "
       "simplified "
       "method takes as long as n to the 1.01; an iteration of SHAKE goes as n to the 1.00, of "
       "RATTLE "
       "to the 0.98. Steps of these two jump where Newton's method takes a third iteration. SHAKE "
       "takes 1.1 to 1.6 times as long as Z&S.",
       make_chain_cost_figure},
      {"dna",
       "Opening of a DNA strand (Tao & Owhadi, Fig. 8)",
       "dna.toml",
       {"run.duration=1000"},
       {},
       "Z&S with h = 2 opens the strand like Verlet with h = 0.2; its energy is lower; the times "
       "were 3.24 s and 23.26 s.",
       "To the first opening the same: all of twenty seeds open, with Z&S later by some 20 of the "
       "time, and its energy is lower. The short step of Verlet is more than this needs: with h = "
       "0.8 it opens the strand when the Runge-Kutta method does, in less than half the time of "
       "Z&S. To there the mean angles of Verlet with either step and of Runge-Kutta are within "
       "0.03 of each other. The strand closes again, and from t = 440 on no two curves agree. None "
       "is a reference then: the energy of Runge-Kutta with h = 0.2 falls from 2.27 to 1.97. The "
       "phase portrait has the paper's two wells, at 0.795 and 5.49; the strand goes from one to "
       "the other at a steady rate, of 0.025 with Verlet and Runge-Kutta and 0.022 with Z&S, which "
       "is why that is later.",
       make_dna_figure},
      {"magnet",
       "The magnetised rigid body (Tao & Owhadi, Figs. 9 and 10)",
       "magnet.toml",
       {},
       {"so3-linearised", "so3-linearised:quadrature=first-order",
        "so3-linearised:a_mass=consistent", "cayley-variational-euler"},
       "Snapshots of the body by Z&S and by the benchmark. Z&S on matrices takes 0.03 s and the "
       "Lie "
       "group integrator 1.45 s; the latter keeps the group much better.",
       "The same orders of errors as in Fig. 10, with the corrected force, which makes the method "
       "symplectic. The [snapshots](#snapshots) of Fig. 9 stand below it: to t = 4 the bodies can "
       "hardly be told apart, at t = 50 the dipole of Z&S is 45° nearer to the field than the "
       "exact "
       "one. The times are the other way round: with identity inertia the Cayley method needs the "
       "root of one cubic equation a "
       "step, against a dense solve of nine equations.",
       make_magnet_figure},
      {"slow-manifold",
       "Slow points and slow solutions (Ariel et al., Table 1, Figs. 2 and 6)",
       "double-spring.toml",
       {},
       {},
       "Five iterations to 1e-9. The projected Runge-Kutta method takes steps that do not depend "
       "on "
       "omega, and costs the same at each; RATTLE saturates at the distance of the slow from the "
       "constrained solution. At ω = 10 000 RATTLE is best where high accuracy is not needed, and "
       "the projected method where it is.",
       "The same numbers. RATTLE with H = 1/8, 1/16, 1/32 is 2.8e-2, 7e-3, 1.7e-3 off, and "
       "saturates at 8e-3 for ω = 100. Half of that is the projection's own error: at t = 10 slow "
       "and constrained solution are 8.2e-3 apart after the three iterations that its tolerance "
       "takes, 6.9e-3 after two, and 4.4e-3 by the ω⁻² that holds from ω = 300 on. The projected "
       "method is of order 4 at ω = 10 000. At 1000 the errors of the projections show from H = "
       "1/16 on, the paper has it from 1/32, and go on falling with H, whatever the tolerance. Two "
       "misprints: the rate of g₁ in row 1 at ω = 1000, and a sign in row 2 at ω = 10000. "
       "Costs are as the paper has them: a projected step takes 430 to 750 evaluations of the "
       "force "
       "and 60 to 70 times as long as one of RATTLE, at ω = 1000 as at 10 000, and less at 100 "
       "with "
       "its looser tolerance; halving H costs 1.8 times as much. At ω = 10 000 RATTLE is the "
       "cheaper "
       "one, by some ten times at 4e-4 in q, until it saturates at 5e-7, and from there on the "
       "projected "
       "method. The stiff equations, put back onto the manifold, take ten times as long as that at "
       "an error of 2e-5 and twice as long at 2e-7, but with little more they reach 1e-11.",
       make_slow_manifold_figure},
      {"stiff-from-constraints",
       "The stiff equations from a point on the constraints (Ariel et al., Fig. 3)",
       "double-spring.toml",
       {},
       {},
       "A code of high order with control of its step, at tolerances of 1e-3 to 1e-8. The steps "
       "are short, ten times as many at ω = 1000 as at 100 and more than that at 10 000, and at "
       "loose tolerances the cost hardly depends on the tolerance. At tight ones the code follows "
       "the ripples about the slow manifold, and the errors saturate: at 1e-5 in q and 1e-3 in p "
       "for ω = 1000, at 1e-7 and 1e-4 for 10 000.",
       "The same, by a pair of orders 5 and 4: at a tolerance of 1e-3 12.7 times the evaluations "
       "at ω = 1000 of those at 100, and another 11.2 times at 10 000; at 1e-8 6.7 and 6.3 times. "
       "The errors saturate at 9.6e-6 in q and 5e-4 in p for ω = 1000, at 1.0e-7 and 1.9e-4 for 10 "
       "000: the distance of the two solutions, of the order of ω⁻² in q and of 1/ω in p. At ω = "
       "100 they saturate at 2.8e-3 in q, where ω⁻² would be 1e-3: the projected start of the slow "
       "solution is itself off there by what makes 4e-3 at t = 10.",
       make_stiff_from_constraints_figure},
      {"stiff-from-slow-point",
       "The stiff equations from a slow point (Ariel et al., Fig. 4)",
       "double-spring.toml",
       {},
       {},
       "The projection of the start removes the saturation; the cost is that of Fig. 3, and the "
       "errors of p are far larger than those of q.",
       "The same: no saturation but that of the slow solution which errors are taken from, whose "
       "steps leave it 3e-8 off in q at ω = 100 and 3e-11 at 1000; at ω = 1000 and 10 000 q is "
       "good to 1e-10 and better at tolerances of 1e-7. The cost is that of Fig. 3, the errors of "
       "p are some 1000 times those of q.",
       make_stiff_from_slow_point_figure},
      {"stiff-projected-back",
       "The stiff equations, put back onto the slow manifold (Ariel et al., Fig. 5)",
       "double-spring.toml",
       {},
       {},
       "Projected at t = 1, 2, ..., 9 as well, smaller errors at less cost than in Fig. 4 for "
       "ω = 1000 and 10 000. At ω = 100 the error of the projections is all there is, whatever the "
       "tolerance; at 1000 it shows from some 5e-8 in q and 5e-7 in p on.",
       "The same at loose tolerances, down to 1e-5 at ω = 1000 and 1e-6 at 10 000: errors of q are "
       "4 to 300 times smaller than [from a slow point alone](stiff-from-slow-point.md), and the "
       "cost falls by a seventh to a quarter, projections counted. At tighter ones the errors of "
       "the projections are all there is, and the cost does not fall: at ω = 1000 4e-8 in q and "
       "4.7e-7 in p, where a slow point alone gives 4e-10 to 3e-11 and 4.5e-7 to 5e-8; at 10 000 "
       "4e-12 and 5e-12 in q, where it gives 8e-13. At ω = 100 it is 5.3e-4 in q whatever the "
       "tolerance.",
       make_stiff_projected_back_figure},
      {"heavy-top",
       "Poincaré section of the heavy top (McLachlan & Scovel, Fig. 1)",
       "heavy-top.toml",
       {},
       {},
       "Invariant circles at a step of 0.05 over 60 000 steps.",
       "The same section, v₃ = 0 with v₃ rising, H = 1, m·v = 0, the half with m₂₃ < 0: circles "
       "about "
       "two fixed points, and between them a chain of islands with chaos about it; the energy "
       "error "
       "stays bounded.",
       make_heavy_top_figure},
      {"double-spherical-pendulum",
       "Error of the double spherical pendulum (McLachlan & Scovel, Fig. 2)",
       "double-spherical-pendulum.toml",
       {"system.gravity=0"},
       {"rattle", "midpoint", "midpoint-hamilton"},
       "With the multipliers written out, the midpoint rule drifts off the constraints, and its "
       "error becomes far larger than that of the constrained method, which is of the same order "
       "and has a comparable error in one step.",
       "Without gravity, as in the paper, from a start of our own. The midpoint rule on Hamilton's "
       "equations of H + g·λ, which is symplectic as the paper's is, does what the paper says: it "
       "drifts off, and by t = 6 it is lost. On Newton's equations, which keep g'' = 0 off the "
       "constraints too, the same rule is not symplectic, but leaves them by no more than 5e-4, "
       "and has smaller errors than RATTLE to t = 50, then larger ones: 0.64 and 0.13 at t = 100.",
       make_spherical_figure},
      {"slow-start",
       "Water whose bonds do not vibrate (Ariel et al., for a start)",
       "slow-start7.toml",
       {},
       {},
       "Projection removes the fast oscillation from initial data, at a cost that does not depend "
       "on ω; the slow manifold is a distance of order ω⁻² from the constraints. Nothing on water.",
       "The energy of the vibration is in the mean 3/2 kT a molecule after Maxwell's velocities, "
       "0.209 kcal/mol for seven at 10 K: the one draw of the table has 0.168, and draws scatter "
       "by 0.064. Where rigid molecules start to feel forces it goes as ω⁻², 3 kcal/mol at ω = 20. "
       "Projected, what is left goes as ω⁻⁴, and is the slow change of the lengths itself: over "
       "three periods they vary as ω⁻³ and no longer as 1/ω or ω⁻². At ω = 20 librations are "
       "nearly as fast as the bonds, and the separation is poor.",
       make_slow_start_figure},
      {"variational",
       "Orders of one-step methods made variational (Patrick et al.)",
       "spherical-pendulum.toml",
       {},
       {},
       "A one-step method of any order gives a variational integrator of the same order, which is "
       "symplectic and keeps the momenta of the system's symmetries. No experiment is shown.",
       "The orders of the layers, 1, 2 and 4, on both systems; Euler's with half a bias is of "
       "order 2, "
       "with the same layer at ±h/2 where the paper asks for the adjoint. L_z is kept to round-off "
       "and the error of the energy does not grow.",
       make_variational_figure},
      {"minima",
       "The lowest minima of two to seven rigid molecules, by water model",
       "",
       {},
       {},
       "Optimised dimers: TIP4P -6.24, SPC -6.61, SPC/E -7.2 kcal/mol. TIP3P by a program that "
       "shares nothing with this one: N = 2 -6.539941, 3 -17.440225, 4 -29.293266, 6 -47.789912, "
       "7 -57.918723 kcal/mol.",
       "Basin hopping from random clusters finds all of these numbers. SPC/E lies below the others "
       "because its charges are larger; the energy of polarisation that goes with them is not "
       "taken off here.",
       make_minima},
  };
  return all;
}

void reproduce(const std::vector<std::string>& names, const ReproduceOptions& options) {
  std::vector<const Reproduction*> chosen;
  std::set<std::string> unknown(names.begin(), names.end());
  std::string known;
  for (const Reproduction& r : reproductions()) {
    known += (known.empty() ? "" : ", ") + r.name;
    if (unknown.erase(r.name) == 1 || names.empty()) chosen.push_back(&r);
  }
  if (!unknown.empty()) {
    throw InputError(fmt::format("there is nothing to reproduce of the name '{}'; there is: {}",
                                 fmt::join(unknown, "', '"), known));
  }
  // What cannot be read leaves no folder behind.
  for (const Reproduction* r : chosen) {
    if (!r->deck.empty()) load_deck(options.inputs_dir + "/" + r->deck);
  }
  io::make_folder(options.out_dir);
  for (const Reproduction* r : chosen) {
    if (options.on_begin) options.on_begin(r->name);
    if (r->make != nullptr) {
      r->make(*r, options);
      continue;
    }
    const Deck deck = load_deck(options.inputs_dir + "/" + r->deck, r->overrides);
    CompareOptions compare;
    const WorkFolder folder(options.out_dir + "/" + r->name);
    compare.out_dir = folder.path();
    compare.overwrite = true;
    compare.threads = options.threads;
    compare.device = "cpu";
    compare.on_progress = options.on_progress;
    compare.on_warning = options.on_warning;
    const CompareResult result = compare_schemes(deck, r->schemes, compare);
    const std::string base = options.out_dir + "/" + r->name;
    move_file(compare.out_dir + "/compare.csv", base + ".csv");
    for (const char* extension : {".svg", ".png"}) {
      const std::string picture = compare.out_dir + "/rdf" + extension;
      if (std::filesystem::exists(picture)) move_file(picture, base + extension);
    }
    io::write_file(base + ".md", page(*r, result));
  }
}

}  // namespace tarn
