#include <sys/resource.h>

#include "full_product.hpp"
#include "fuzz/checkpoint_fuzz.hpp"
#include "fuzz/deck_fuzz.hpp"
#ifdef TARN_HAVE_HDF5
#include "fuzz/h5md_fuzz.hpp"
#endif
#include "fuzz/structure_fuzz.hpp"
#include "testing.hpp"

#if defined(TARN_HAVE_HDF5) && defined(__SANITIZE_ADDRESS__)
/// The HDF5 library forgets blocks of its own where a file is damaged.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }
#endif

// What the fuzzers found or start from, through the same functions.

namespace tarn {
namespace {

namespace fs = std::filesystem;

long peak_memory_MiB() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

void replay(const std::string& folder, void (*read)(std::string_view)) {
  int files = 0;
  const long before = peak_memory_MiB();
  for (const auto& entry : fs::directory_iterator(std::string(TARN_SOURCE_DIR) + folder)) {
    if (!entry.is_regular_file()) continue;
    SCOPED_TRACE(entry.path());
    EXPECT_NO_THROW(read(test::read_text(entry.path().string())));
    ++files;
  }
  EXPECT_GT(files, 1);
  // Files of some kilobytes ask for no more than some megabytes.
  EXPECT_LT(peak_memory_MiB() - before, 256);
}

TEST(FuzzCorpus, Decks) {
  replay("/tests/data/fuzz/deck", fuzz::deck);
  replay("/inputs", fuzz::deck);
}

TEST(FuzzCorpus, Structures) {
  replay("/tests/data/fuzz/structure", fuzz::structure);
  replay("/tests/data/minima", fuzz::structure);
  replay("/tests/data/trajectories", fuzz::structure);
}

TEST(FuzzCorpus, Checkpoints) { replay("/tests/data/fuzz/checkpoint", fuzz::checkpoint); }

#ifdef TARN_HAVE_HDF5
TEST(FuzzCorpus, H5md) {
  replay("/tests/data/fuzz/h5md", fuzz::h5md);
  const long before = peak_memory_MiB();
  const auto step = static_cast<unsigned>(test::sparse_step());
  for (unsigned seed = 0; seed < 600; seed += step) {
    SCOPED_TRACE(seed);
    std::mt19937 generator(seed);
    std::string choices(8 + generator() % 64, '\0');
    for (char& c : choices) c = static_cast<char>(generator());
    EXPECT_NO_THROW(fuzz::h5md(choices));
  }
#if defined(__SANITIZE_ADDRESS__)
  constexpr long kQuarantine_MiB = 256;  // the sanitizer keeps so much of what was freed
#else
  constexpr long kQuarantine_MiB = 0;
#endif
  EXPECT_LT(peak_memory_MiB() - before, 256 + kQuarantine_MiB);
}
#endif

}  // namespace
}  // namespace tarn
