#include "kernels/blow_up_finder.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/cluster_program.hpp"
#include "tarn/flat_coordinates.hpp"

namespace tarn::gpu {
namespace {

/// Non-bonded forces of one cluster on the host; blow-ups are rare.
template <bool kMSite>
void forces_on_host(const PairParameters<double>& pair, const std::vector<double>& x,
                    std::vector<double>& f) {
  const std::size_t n = x.size() / 9;
  std::vector<SiteForces<double>> on_sites(n, no_site_forces<double>());
  for (std::size_t i = 0; i < n; ++i) {
    const Triple<double> xi = molecule_at(x.data(), i);
    for (std::size_t j = i + 1; j < n; ++j) {
      const Triple<double> xj = molecule_at(x.data(), j);
      add_pair_forces<kMSite>(pair, xi.o - xj.o, site_offsets<kMSite>(xi, pair.m_weight),
                              site_offsets<kMSite>(xj, pair.m_weight), AllLanes{}, on_sites[i],
                              on_sites[j]);
    }
  }
  for (std::size_t m = 0; m < n; ++m) {
    put_molecule(forces_on_atoms<kMSite>(on_sites[m], pair.m_weight), f.data(), m);
  }
}

}  // namespace

std::vector<BlowUp> BlowUpFinder::find(const ReplicaMemory& replicas) const {
  const std::vector<int> stopped = replicas.stopped(), molecules = replicas.blow_up_molecules();
  const std::vector<long long> steps = replicas.blow_up_steps();
  std::vector<BlowUp> all;
  if (std::find(stopped.begin(), stopped.end(), 1) == stopped.end()) return all;
  std::vector<double> kept;
  std::vector<double> x(static_cast<std::size_t>(replicas.device().molecules) * 9);
  for (std::size_t r = 0; r < stopped.size(); ++r) {
    if (!stopped[r]) continue;
    if (const auto known = found_.find(r); known != found_.end()) {
      all.push_back(known->second);
      continue;
    }
    if (kept.empty()) kept = replicas.kept_positions();
    // The centroids of ring polymers.
    const int copies = replicas.device().copies;
    replicas.gather(kept, r * static_cast<std::size_t>(copies), x.data());
    for (double& c : x) c /= std::sqrt(static_cast<double>(copies));
    BlowUp blow_up;
    blow_up.replica = replicas.ids()[r];
    blow_up.step = steps[r];
    blow_up.molecule = molecules[r];
    // The positions at that step are lost: the device has restored the kept state.
    measure_.record_extremes(
        x, x,
        [&](const std::vector<double>& at, std::vector<double>& f) {
          m_site_ ? forces_on_host<true>(pair_, at, f) : forces_on_host<false>(pair_, at, f);
        },
        blow_up);
    blow_up.seen_in_last_good_state = true;
    found_.emplace(r, blow_up);
    all.push_back(blow_up);
  }
  std::sort(all.begin(), all.end(),
            [](const BlowUp& a, const BlowUp& b) { return a.replica < b.replica; });
  return all;
}

}  // namespace tarn::gpu
