#pragma once

#include "core/packing.hpp"
#include "tarn/engine.hpp"

/// @file
/// Systems, states and frames as messages.

namespace tarn::parallel {

void pack(const System& system, Packer& to);
/// The name of the water model stays valid until the process ends.
System unpack_system(Unpacker& from);

void pack(const PairCountRequest& counts, Packer& to);
PairCountRequest unpack_counts(Unpacker& from);

void pack(const State& state, Packer& to);
State unpack_state(Unpacker& from);

/// The sums of some replicas only. @param replica_ids in the order of the sums
void pack(const MeasureSettings& settings, std::span<const std::int64_t> replica_ids,
          std::size_t pairs, Packer& to);
MeasureSettings unpack_settings(Unpacker& from);

void pack(const LindemannSums& sums, Packer& to);
void unpack(Unpacker& from, LindemannSums& sums);
void pack(const GroupMoments& moments, Packer& to);
void unpack(Unpacker& from, GroupMoments& moments);

/// All of a frame but the numbers of groups, radial counts and pair counts.
void pack_rows(const Frame& frame, Packer& to);
void unpack_rows(Unpacker& from, Frame& frame);

void pack(const std::vector<std::string>& texts, Words& to);
std::vector<std::string> unpack_texts(Unpacker& from);

void pack(const EnginePart& part, Packer& to);
EnginePart unpack_part(Unpacker& from);

}  // namespace tarn::parallel
