#include "start_record.hpp"

#include <cstdint>

#include "tarn/io/binary.hpp"

namespace tarn {

void StartRecord::save(std::ostream& out) {
  io::put(out, static_cast<std::uint64_t>(notes_of_start.size()));
  for (const std::string& note : notes_of_start) io::put(out, note);
  io::put(out, static_cast<std::uint64_t>(slow ? 1 : 0));
  if (!slow) return;
  io::put(out, slow->fast_before_kcal_per_mol);
  io::put(out, slow->fast_after_kcal_per_mol);
  io::put(out, std::int64_t{slow->iterations});
}

void StartRecord::load(std::istream& in) {
  notes_of_start.clear();
  for (std::uint64_t left = io::get_u64(in); left > 0; --left) {
    notes_of_start.push_back(io::get_string(in));
  }
  slow.reset();
  if (io::get_u64(in) == 0) return;
  slow.emplace();
  slow->fast_before_kcal_per_mol = io::get_double(in);
  slow->fast_after_kcal_per_mol = io::get_double(in);
  slow->iterations = static_cast<int>(io::get_i64(in));
}

}  // namespace tarn
