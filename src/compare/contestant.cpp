#include "contestant.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <numeric>

#include "tarn/start.hpp"

namespace tarn {

void Contestant::sample() {
  Frame frame;
  engine->snapshot(kEnergies | kConservation, frame);
  if (frame.replica_ids.empty()) return;
  for (const Conservation& c : frame.conservation) {
    constraint_max_A2 = std::max(constraint_max_A2, c.constraint_max_A2);
  }
  if (frame.step < first_step) return;
  const auto add = [&](analysis::PooledBlocking& to, double Energies::*member) {
    std::vector<double> values;
    for (const Energies& e : frame.energies) values.push_back(e.*member);
    to.add_replicas(frame.replica_ids, values);
  };
  add(temperature, &Energies::temperature_K);
  add(translation, &Energies::temperature_translation_K);
  add(rotation, &Energies::temperature_rotation_K);
  add(bond, &Energies::temperature_bond_K);
  add(potential, &Energies::potential_kcal_per_mol);
}

Elapsed Contestant::advance_to(std::int64_t step) {
  Elapsed elapsed;
  while (engine->step() < step) {
    const std::int64_t now = engine->step();
    const std::int64_t stop = std::min(step, now - now % sample_every + sample_every);
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t core_start = std::clock();
    engine->advance(stop - now);
    elapsed.core_seconds += static_cast<double>(std::clock() - core_start) / CLOCKS_PER_SEC;
    elapsed.wall_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (stop % sample_every == 0) sample();
  }
  return elapsed;
}

Contestant make_contestant(const Deck& deck, const std::string& label,
                           std::vector<std::string>& notes) {
  Contestant c;
  c.label = label;
  c.deck = deck;
  const Start start = make_start(deck);
  notes = start.notes;
  const PairCountRequest counts = make_pair_count_request(deck);
  c.engine = make_engine(make_system(deck, start.state.molecules), start.state, counts,
                         {deck.run.device, deck.run.threads});
  for (analysis::PooledBlocking* q :
       {&c.temperature, &c.translation, &c.rotation, &c.bond, &c.potential}) {
    *q = analysis::PooledBlocking::of_replicas(deck.system.replicas);
  }
  c.sample_every = deck.energies ? deck.energies->every : ObserveEnergies{}.every;
  c.first_step = counts.first_step;
  return c;
}

Distances distances_of(const Frame& frame, PairClass pair_class, int bins, double width_A,
                       double pairs) {
  Distances d;
  const std::size_t b = static_cast<std::size_t>(bins);
  const std::size_t groups = frame.pair_samples.size();
  d.of_groups.assign(groups, std::vector<double>(b));
  d.counts.assign(b, 0.0);
  d.density_per_A.assign(b, 0.0);
  d.error_per_A.assign(b, 0.0);
  std::vector<double> samples(groups);
  for (std::size_t g = 0; g < groups; ++g) {
    samples[g] = static_cast<double>(frame.pair_samples[g]) * pairs * width_A;
    const auto* counts =
        &frame.pair_counts[(g * kPairClasses + static_cast<std::size_t>(pair_class)) * b];
    std::copy(counts, counts + b, d.of_groups[g].begin());
  }
  std::vector<double> in_bin(groups);
  for (std::size_t bin = 0; bin < b; ++bin) {
    for (std::size_t g = 0; g < groups; ++g) in_bin[g] = d.of_groups[g][bin];
    d.counts[bin] = std::accumulate(in_bin.begin(), in_bin.end(), 0.0);
    const analysis::MeanError density = analysis::ratio_and_error(in_bin, samples);
    d.density_per_A[bin] = density.mean;
    d.error_per_A[bin] = density.error;
  }
  return d;
}

analysis::MeanError mean_and_error(const analysis::PooledBlocking& quantity) {
  const analysis::Blocking b = quantity.result();
  return {b.mean, b.error};
}

}  // namespace tarn
