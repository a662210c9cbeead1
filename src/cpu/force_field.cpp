#include "tarn/force_field.hpp"

#include "tarn/physics/parameters.hpp"

namespace tarn {

struct ForceField::Impl {
  WaterModel model;
  int molecules;
};

ForceField::ForceField(const WaterModel& model, int molecules)
    : impl_(std::make_unique<Impl>(Impl{model, molecules})) {}
ForceField::~ForceField() = default;
ForceField::ForceField(ForceField&&) noexcept = default;
ForceField& ForceField::operator=(ForceField&&) noexcept = default;
int ForceField::molecules() const { return impl_->molecules; }
const WaterModel& ForceField::model() const { return impl_->model; }

namespace {
Triple<double> load(const double* p) {
  return {{p[0], p[1], p[2]}, {p[3], p[4], p[5]}, {p[6], p[7], p[8]}};
}
template <bool kMSite>
NonbondedEnergy all_pairs(const WaterModel& model, int n, const double* x, double* f) {
  const PairParameters<double> p = pair_parameters<double>(model);
  NonbondedEnergy e;
  std::vector<SiteForces<double>> site(n, SiteForces<double>{});
  for (int i = 0; i < n; ++i) {
    const Triple<double> xi = load(x + 9 * i);
    const auto di = site_offsets<kMSite>(xi, p.m_weight);
    for (int j = i + 1; j < n; ++j) {
      const Triple<double> xj = load(x + 9 * j);
      const auto dj = site_offsets<kMSite>(xj, p.m_weight);
      add_pair_energy<kMSite>(p, xi.o - xj.o, di, dj, AllLanes{}, e.coulomb_kcal_per_mol,
                              e.lj_kcal_per_mol);
      if (f) add_pair_forces<kMSite>(p, xi.o - xj.o, di, dj, AllLanes{}, site[i], site[j]);
    }
  }
  if (f) {
    for (int i = 0; i < n; ++i) {
      const Triple<double> a = forces_on_atoms<kMSite>(site[i], p.m_weight);
      const Vec3<double> v[3] = {a.o, a.h1, a.h2};
      for (int k = 0; k < 3; ++k) {
        f[9 * i + 3 * k] = v[k].x;
        f[9 * i + 3 * k + 1] = v[k].y;
        f[9 * i + 3 * k + 2] = v[k].z;
      }
    }
  }
  return e;
}
}  // namespace

NonbondedEnergy ForceField::energy(std::span<const double> x) {
  return impl_->model.has_m_site() ? all_pairs<true>(impl_->model, molecules(), x.data(), nullptr)
                                   : all_pairs<false>(impl_->model, molecules(), x.data(), nullptr);
}
NonbondedEnergy ForceField::energy_and_forces(std::span<const double> x, std::span<double> f) {
  return impl_->model.has_m_site()
             ? all_pairs<true>(impl_->model, molecules(), x.data(), f.data())
             : all_pairs<false>(impl_->model, molecules(), x.data(), f.data());
}

}  // namespace tarn
