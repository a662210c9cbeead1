#pragma once

#include "pack_memory.hpp"
#include "steps/quench.hpp"

/// @file
/// Steps of quenches in packs.

namespace tarn::inline TARN_ARCH {
namespace {

/// Clusters for quench_step(). @tparam kLanesAreClusters else the lanes are molecules of one
/// cluster
template <bool kLanesAreClusters>
class QuenchLanes {
 public:
  explicit QuenchLanes(const cpu::QuenchPacks& packs, int unknowns)
      : p_(packs), row_length_(std::ptrdiff_t{packs.packs} * unknowns * kLanes) {}

  TARN_HD int molecules() const { return p_.packs; }
  TARN_HD Triple<D> x(int m) const { return load_triple(p_.x + nine_at(m)); }
  TARN_HD Triple<D> trial(int m) const { return load_triple(p_.trial + nine_at(m)); }
  TARN_HD Triple<D> f(int m) const { return load_triple(p_.f + nine_at(m)); }
  TARN_HD void put_x(int m, const Triple<D>& x) { store_triple(x, p_.x + nine_at(m)); }
  TARN_HD void put_trial(int m, const Triple<D>& x) { store_triple(x, p_.trial + nine_at(m)); }
  TARN_HD D row(int r, int k) const { return D::load(at(r, k)); }
  TARN_HD void put_row(int r, int k, const D& value) { value.store(at(r, k)); }
  TARN_HD D sum(const D& a) const {
    if constexpr (kLanesAreClusters) return a;
    return D(sum_lanes(a));
  }
  TARN_HD D largest(const D& a) const {
    if constexpr (kLanesAreClusters) return a;
    double most = a[0];
    for (int lane = 1; lane < kLanes; ++lane) most = max(most, a[lane]);
    return D(most);
  }

 private:
  TARN_HD double* at(int r, int k) const {
    return p_.rows + r * row_length_ + std::ptrdiff_t{k} * kLanes;
  }
  const cpu::QuenchPacks& p_;
  std::ptrdiff_t row_length_;
};

template <bool kLanesAreClusters>
void quench_lanes(const cpu::QuenchPacks& packs, const QuenchRules& rules, int pair) {
  D numbers[QuenchNumber::kNumbers];
  for (int k = 0; k < QuenchNumber::kNumbers; ++k) {
    numbers[k] = D::load(packs.numbers + std::ptrdiff_t{k} * kLanes);
  }
  QuenchLanes<kLanesAreClusters> lanes(packs, rules.unknowns());
  quench_step(lanes, rules, pair, D::load(packs.energies), numbers);
  for (int k = 0; k < QuenchNumber::kNumbers; ++k) {
    numbers[k].store(packs.numbers + std::ptrdiff_t{k} * kLanes);
  }
}

}  // namespace
}  // namespace tarn::inline TARN_ARCH
