#pragma once

#include "engine_fixtures.hpp"
#include "tarn/cpu_engine.hpp"

/// @file
/// Law 6: an engine made of parts gives the same bits as one engine.

namespace tarn::test {

/// All numbers of a frame. All values that are not numbers are the same.
inline Bits bits_of(const Frame& f) {
  Bits bits{static_cast<std::uint64_t>(f.step), static_cast<std::uint64_t>(f.molecules),
            static_cast<std::uint64_t>(f.beads)};
  const auto add = [&]<class T>(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 8 == 0);
    bits.push_back(values.size());
    const std::size_t begin = bits.size();
    bits.resize(begin + values.size() * sizeof(T) / 8);
    if (!values.empty()) std::memcpy(&bits[begin], values.data(), values.size() * sizeof(T));
    if constexpr (!std::is_integral_v<T> && !std::is_same_v<T, ClusterParts>) {
      for (std::size_t k = begin; k < bits.size(); ++k) {
        if (std::isnan(std::bit_cast<double>(bits[k]))) bits[k] = ~std::uint64_t{0};
      }
    }
  };
  const auto add_moments = [&](const GroupMoments& m) {
    bits.push_back(static_cast<std::uint64_t>(m.groups * 1000 + m.numbers));
    add(m.counts);
    for (const auto* values : {&m.pivots, &m.sums, &m.squares, &m.products}) add(*values);
  };
  add(f.replica_ids);
  for (const auto* values :
       {&f.positions_A, &f.velocities_A_per_akma, &f.beads_A, &f.atom_kinetic_kcal_per_mol,
        &f.own_positions_A, &f.multipliers_kcal_per_mol_A2, &f.heat_kcal_per_mol, &f.lindemann,
        &f.exchange_energies_kcal_per_mol, &f.rescaled_energies_kcal_per_mol,
        &f.lindemann_sums.means_A, &f.lindemann_sums.squares_A2}) {
    add(*values);
  }
  add(f.energies);
  add(f.conservation);
  add(f.shape);
  add(f.parts);
  add(f.geometry);
  add(f.rings);
  bits.push_back(static_cast<std::uint64_t>(f.lindemann_sums.samples));
  add(f.lindemann_sums.replica_ids);
  for (const auto* moments :
       {&f.energy_moments, &f.shape_moments, &f.geometry_moments, &f.lindemann_moments}) {
    add_moments(*moments);
  }
  for (const auto* counts : {&f.radial_counts.replicas, &f.radial_counts.oxygens,
                             &f.radial_counts.hydrogens, &f.radial_counts.cosines}) {
    add(*counts);
  }
  add(f.pair_counts);
  add(f.pair_samples);
  return bits;
}

inline Bits bits_of(const State& s) {
  Bits bits{static_cast<std::uint64_t>(s.step), static_cast<std::uint64_t>(s.beads)};
  for (const std::int64_t id : s.replica_ids) bits.push_back(static_cast<std::uint64_t>(id));
  for (const auto* values : {&s.positions_A, &s.velocities_A_per_akma, &s.heat_kcal_per_mol}) {
    append_bits(*values, bits);
  }
  return bits;
}

/// All fields of a frame.
inline constexpr unsigned kEveryField =
    kRowFields | kGroupFields | kArrayFields | kLindemannSums | kPairCounts;
inline Bits bits_of_frame(Engine& engine) {
  Frame f;
  engine.snapshot(kEveryField, f);
  return bits_of(f);
}

/// Settings with which all fields have numbers.
inline MeasureSettings settings_of_all_fields() {
  MeasureSettings settings;
  settings.moment_groups = 3;
  settings.radial = {12.0, 20, 2};
  settings.lindemann = {true, 1, 0};
  settings.exchange_every = 2;
  return settings;
}
inline PairCountRequest counts_of_pairs() {
  return {.enabled = true, .r_max_A = 6.0, .bins = 40, .every = 2, .groups = 4};
}

/// Parts of the CPU that count pairs.
inline std::unique_ptr<Engine> split_on_cpu(const System& system, const State& start, int parts,
                                            int threads) {
  const PartMaker maker = [&system, threads](const State& share) {
    return make_cpu_engine(system, share, counts_of_pairs(), threads);
  };
  return make_split_engine(system, start, {static_cast<std::size_t>(parts), maker}, threads);
}

/// Expects the same of both engines: frames of all fields, of some and of none, states, blow-ups.
inline void expect_same_engines(Engine& whole, Engine& parts) {
  EXPECT_EQ(whole.step(), parts.step());
  EXPECT_EQ(whole.arithmetic(), parts.arithmetic());
  EXPECT_EQ(whole.blow_ups(), parts.blow_ups());
  EXPECT_TRUE(same_bits(bits_of(whole.state()), bits_of(parts.state()))) << "state";
  EXPECT_TRUE(same_bits(bits_of(whole.begin_state()()), bits_of(parts.begin_state()())));
  for (const unsigned fields :
       {kEveryField, kGroupFields, kEnergies | kEnergyMoments, kNoFields + 0u}) {
    Frame a, b;
    whole.snapshot(fields, a);
    parts.snapshot(fields, b);
    EXPECT_TRUE(same_bits(bits_of(a), bits_of(b))) << "fields " << fields;
    if (!parts.begin_snapshot(fields & ~kArrayFields)) continue;
    parts.finish_snapshot(b);
    whole.snapshot(fields, a);
    EXPECT_TRUE(same_bits(bits_of(a), bits_of(b))) << "fields " << fields << ", in two calls";
  }
  const EngineReport a = whole.report(), b = parts.report();
  EXPECT_EQ(a.molecule_steps, b.molecule_steps);
  EXPECT_EQ(a.constraint_iterations, b.constraint_iterations);
  EXPECT_EQ(a.indefinite_hessians, b.indefinite_hessians);
}

/// Steps, exchanges and a blow-up on both engines, which were made from the same state of at least
/// six replicas with the ids 0, 1, ...; they must agree after each.
/// @param exchanges whether the engines exchange states
inline void expect_same_steps(Engine& whole, Engine& parts, bool exchanges) {
  const auto each = [&](const auto& f) {
    f(whole);
    f(parts);
  };
  each([](Engine& e) { e.measure_with(settings_of_all_fields()); });
  expect_same_engines(whole, parts);
  each([](Engine& e) { e.advance(3); });
  expect_same_engines(whole, parts);
  if (exchanges) {
    const auto last = static_cast<std::int64_t>(whole.state().replica_ids.size()) - 1;
    // Between parts, and within the first one; the last pair then is hot and blows up.
    const std::vector<StateExchange> pairs{
        {0, last, 0.9, 1.1}, {1, 2, 1.2, 0.7}, {last - 1, 3, 1.0, 1e6}};
    each([&](Engine& e) { e.exchange(pairs); });
    expect_same_engines(whole, parts);
    const std::vector<StateExchange> twice{{0, last, 1.0, 1.0}, {last, 0, 1.0, 1.0}};
    each([&](Engine& e) { EXPECT_THROW(e.exchange(twice), InputError); });
    const std::vector<StateExchange> missing{{0, last + 1, 1.0, 1.0}};
    each([&](Engine& e) { EXPECT_THROW(e.exchange(missing), InputError); });
  }
  each([](Engine& e) {
    e.begin_advance(1);
    e.begin_advance(2);
    e.wait();
  });
  expect_same_engines(whole, parts);
  EXPECT_EQ(whole.blow_ups().size(), exchanges ? 1u : 0u);
  if (exchanges) {
    const std::vector<StateExchange> stopped{{0, 3, 1.0, 1.0}};
    each([&](Engine& e) { EXPECT_THROW(e.exchange(stopped), InputError); });
  }
  // A frame that is finished during later steps.
  constexpr unsigned kFields = kRowFields | kGroupFields;
  Frame a, b;
  whole.advance(2);
  whole.snapshot(kFields, a);
  whole.advance(1);
  parts.begin_advance(2);
  if (parts.begin_snapshot(kFields)) {
    parts.begin_advance(1);
    parts.finish_snapshot(b);
    parts.wait();
    EXPECT_TRUE(same_bits(bits_of(a), bits_of(b))) << "finished later";
  } else {
    parts.wait();
    parts.advance(1);
  }
  expect_same_engines(whole, parts);
}

/// Ids 0, 1, ...
inline std::vector<std::int64_t> first_ids(int replicas) {
  std::vector<std::int64_t> ids;
  for (int r = 0; r < replicas; ++r) ids.push_back(r);
  return ids;
}

}  // namespace tarn::test
