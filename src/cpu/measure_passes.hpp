#pragma once

#include "pack_memory.hpp"
#include "physics/cluster_shape.hpp"
#include "physics/geometry.hpp"
#include "steps/measure.hpp"

/// @file
/// Measurements of the replicas in the lanes of a pack: sums over their molecules, in order.

namespace tarn::inline TARN_ARCH {
namespace {

using cpu::MeasuredPacks;

template <int kNumbers>
TARN_HD void store_numbers(const D (&numbers)[kNumbers], double* out) {
  for (int k = 0; k < kNumbers; ++k) numbers[k].store(out + k * kLanes);
}
TARN_HD Triple<D> load_molecule(const double* c, int m) { return load_triple(c + nine_at(m)); }

void reported_positions(double bh2, const MeasuredPacks& packs, int molecules, double* q) {
  for (int m = 0; m < molecules; ++m) {
    store_triple(fma(D(bh2), load_molecule(packs.a, m), load_molecule(packs.x, m)), q + nine_at(m));
  }
}

/// The masses of molecule m.
template <bool kIsotopes>
TARN_HD const auto& masses_at(const MeasureNumbers& n, const AtomMasses<double>* isotopes, int m) {
  if constexpr (kIsotopes) {
    return isotopes[m];
  } else {
    return n.step.masses;
  }
}

template <bool kIsotopes>
TARN_HD Centres<D> centres(const MeasureNumbers& n, const AtomMasses<double>* isotopes,
                           const double* q, const double* x) {
  D sum[CentreTerm::kNumbers], terms[CentreTerm::kNumbers];
  for (D& s : sum) s = D(0.0);
  double all_Da = n.molecules * molecule_mass(n.step.masses);
  if constexpr (kIsotopes) {
    all_Da = 0.0;
    for (int m = 0; m < n.molecules; ++m) all_Da += molecule_mass(isotopes[m]);
  }
  for (int m = 0; m < n.molecules; ++m) {
    centre_terms(masses_at<kIsotopes>(n, isotopes, m), load_molecule(q, m), load_molecule(x, m),
                 terms);
    for (int k = 0; k < CentreTerm::kNumbers; ++k) sum[k] = sum[k] + terms[k];
  }
  return centres_of(n.molecules, all_Da, sum);
}

template <bool kIsotopes>
void energy_sums(const MeasureNumbers& n, const AtomMasses<double>* isotopes,
                 const MeasuredPacks& packs, double* out, double* inertia_out) {
  const Centres<D> centre = centres<kIsotopes>(n, isotopes, packs.q, packs.x);
  D sum[EnergyTerm::kNumbers], terms[EnergyTerm::kNumbers];
  for (D& s : sum) s = D(0.0);
  D inertia[InertiaTerm::kNumbers], more[InertiaTerm::kNumbers];
  for (D& s : inertia) s = D(0.0);
  for (int k = 0; k < n.molecules; ++k) {
    MeasuredMolecule<D> m{load_molecule(packs.x, k),
                          load_molecule(packs.v, k),
                          load_molecule(packs.a, k),
                          load_molecule(packs.q, k),
                          {}};
    if (n.baoab) m.v_thermal = load_molecule(packs.v_thermal, k);
    const auto& mass = masses_at<kIsotopes>(n, isotopes, k);
    if (n.rigid) project_measured(n, mass, m);
    energy_terms(n, mass, m, centre.mass_q, terms);
    for (int i = 0; i < EnergyTerm::kConstraint; ++i) sum[i] = sum[i] + terms[i];
    sum[EnergyTerm::kConstraint] =
        max(sum[EnergyTerm::kConstraint], terms[EnergyTerm::kConstraint]);
    if (!n.motionless) continue;
    inertia_terms(mass, m.x, centre.mass_x, more);
    for (int i = 0; i < InertiaTerm::kNumbers; ++i) inertia[i] = inertia[i] + more[i];
  }
  store_numbers(sum, out);
  if (n.motionless) store_numbers(inertia, inertia_out);
}

template <bool kMSite>
void potential_energies(const PairParameters<double>& p, const double* q, int molecules,
                        double* out) {
  const D weight(p.m_weight);
  D coulomb(0.0), lj(0.0);
  for (int i = 0; i < molecules; ++i) {
    const Triple<D> xi = load_molecule(q, i);
    const SiteOffsets<D> own = site_offsets<kMSite>(xi, weight);
    for (int j = i + 1; j < molecules; ++j) {
      const Triple<D> xj = load_molecule(q, j);
      add_pair_energy<kMSite>(p, xi.o - xj.o, own, site_offsets<kMSite>(xj, weight), AllLanes{},
                              coulomb, lj);
    }
  }
  (coulomb + lj).store(out);
}

template <bool kIsotopes>
void shape_sums(const MeasureNumbers& n, const AtomMasses<double>* isotopes, const double* q,
                double* out) {
  const Centres<D> centre = centres<kIsotopes>(n, isotopes, q, q);
  D sum[ShapeTerm::kNumbers], terms[ShapeTerm::kNumbers];
  for (D& s : sum) s = D(0.0);
  for (int m = 0; m < n.molecules; ++m) {
    shape_terms(
        m, n.molecules, [&](int j) { return load_molecule(q, j); }, centre.oxygens_q, centre.mass_q,
        n.dipole_charge_e, terms);
    add_shape(terms, sum);
  }
  store_numbers(sum, out);
}

void geometry_numbers(const double* c, int molecules, double* out) {
  D all[GeometryTerm::kNumbers], terms[GeometryTerm::kNumbers];
  geometry_terms(load_molecule(c, 0), all);
  for (int m = 1; m < molecules; ++m) {
    geometry_terms(load_molecule(c, m), terms);
    add_geometry(terms, all);
  }
  store_numbers(all, out);
}

void add_distances(const double* q, int molecules, double samples, double* means, double* squares) {
  std::ptrdiff_t pair = 0;
  for (int a = 1; a < molecules; ++a) {
    const Vec3<D> own = load_molecule(q, a).o;
    for (int b = 0; b < a; ++b, pair += kLanes) {
      D mean = D::load(means + pair), square = D::load(squares + pair);
      add_distance(sqrt(norm2(own - load_molecule(q, b).o)), samples, mean, square);
      mean.store(means + pair);
      square.store(squares + pair);
    }
  }
}
void lindemann_indices(int molecules, double samples, const double* means, const double* squares,
                       double* out) {
  const std::int64_t pairs = molecule_pairs(molecules);
  D sum(0.0);
  for (std::ptrdiff_t p = 0; p < pairs; ++p) {
    sum = sum + lindemann_term(D::load(means + p * kLanes), D::load(squares + p * kLanes), samples);
  }
  (sum / D(static_cast<double>(pairs))).store(out);
}

/// Squares of the largest distance of an oxygen from the first one.
void farthest_from_first(const double* q, int molecules, double* out) {
  const Vec3<D> first = load_molecule(q, 0).o;
  D farthest2(0.0);
  for (int m = 1; m < molecules; ++m) {
    farthest2 = max(farthest2, norm2(load_molecule(q, m).o - first));
  }
  farthest2.store(out);
}

constexpr cpu::MeasureKernels measure_kernels() {
  return {reported_positions,
          {energy_sums<false>, energy_sums<true>},
          {potential_energies<false>, potential_energies<true>},
          {shape_sums<false>, shape_sums<true>},
          geometry_numbers,
          add_distances,
          lindemann_indices,
          farthest_from_first};
}

}  // namespace
}  // namespace tarn::inline TARN_ARCH
