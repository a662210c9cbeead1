#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tarn/physics/pair_force.hpp"
#include "tarn/state.hpp"
#include "tarn/steps/step_program.hpp"

namespace tarn {

/// The molecule at c, nine coordinates.
template <class T>
Triple<T> molecule_at(const double* c) {
  const auto atom = [&](int a) -> Vec3<T> {
    return {T(c[3 * a]), T(c[3 * a + 1]), T(c[3 * a + 2])};
  };
  return {atom(0), atom(1), atom(2)};
}

/// Forces of a three-site model on the atoms of each molecule, by a plain sum in numbers of T.
template <class T>
std::vector<Triple<T>> plain_forces(const PairParameters<double>& p,
                                    const std::vector<Triple<T>>& x) {
  const T no_weight(0.0);
  std::vector<SiteForces<T>> sites(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const SiteOffsets<T> at_i = site_offsets<false>(x[i], no_weight);
    for (std::size_t j = i + 1; j < x.size(); ++j) {
      add_pair_forces<false>(p, x[i].o - x[j].o, at_i, site_offsets<false>(x[j], no_weight),
                             AllLanes{}, sites[i], sites[j]);
    }
  }
  std::vector<Triple<T>> forces;
  for (const SiteForces<T>& s : sites) forces.push_back(forces_on_atoms<false>(s, no_weight));
  return forces;
}

/// Replicas whose state and forces are floats: what single precision would be, as a plain loop over
/// the same formulas. For three sites, schemes without iteration and no thermostat.
class InSingle {
 public:
  InSingle(const System& system, const State& start)
      : parameters_(step_parameters(system)),
        passes_(step_passes(system)),
        pair_(pair_parameters<double>(system.model)),
        start_(start) {
    const auto n = static_cast<std::size_t>(start.molecules);
    for (std::size_t r = 0; r < start.replica_ids.size(); ++r) {
      std::vector<MoleculeState<float>>& s = replicas_.emplace_back();
      for (std::size_t k = r * n; k < (r + 1) * n; ++k) {
        s.push_back({molecule_at<float>(&start.positions_A[9 * k]),
                     molecule_at<float>(&start.velocities_A_per_akma[9 * k]),
                     {}});
      }
      // The accelerations at the start; the velocities stay what they are.
      const std::vector<MoleculeState<float>> before = s;
      end(s);
      for (std::size_t k = 0; k < n; ++k) s[k].v = before[k].v;
    }
  }

  void advance(std::int64_t steps) {
    for (std::vector<MoleculeState<float>>& s : replicas_) {
      for (std::int64_t step = 0; step < steps; ++step) {
        for (MoleculeState<float>& m : s) begin_step(parameters_, passes_.move, m);
        end(s);
      }
    }
  }

  State state() const {
    State s = start_;
    double* x = s.positions_A.data();
    double* v = s.velocities_A_per_akma.data();
    for (const std::vector<MoleculeState<float>>& replica : replicas_) {
      for (const MoleculeState<float>& m : replica) {
        put(m.x, x);
        put(m.v, v);
      }
    }
    return s;
  }

 private:
  static void put(const Triple<float>& t, double*& c) {
    for (const Vec3<float>& a : {t.o, t.h1, t.h2}) {
      for (float value : {a.x, a.y, a.z}) *c++ = static_cast<double>(value);
    }
  }
  void end(std::vector<MoleculeState<float>>& s) {
    std::vector<Triple<float>> x;
    for (const MoleculeState<float>& m : s) x.push_back(m.x);
    const std::vector<Triple<float>> f = plain_forces(pair_, x);
    for (std::size_t k = 0; k < s.size(); ++k) end_step(parameters_, passes_.end, f[k], s[k]);
  }

  StepParameters parameters_;
  StepPasses passes_;
  PairParameters<double> pair_;
  State start_;
  std::vector<std::vector<MoleculeState<float>>> replicas_;
};

}  // namespace tarn
