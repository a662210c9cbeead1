#pragma once

#include <cstdlib>

namespace tarn::test {

/// True for the full products of sizes, batches and damaged bytes, which take an hour: CTest runs
/// them with the label `long`. Other runs use covering sets.
inline bool covers_everything() { return std::getenv("TARN_TEST_FULL") != nullptr; }

/// The step of a loop over damaged bytes or deaths: every one in the full product, else every
/// seventh.
inline int sparse_step() { return covers_everything() ? 1 : 7; }

}  // namespace tarn::test
