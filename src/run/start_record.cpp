#include "start_record.hpp"

#include <cstdint>

#include "tarn/io/binary.hpp"

namespace tarn {

void StartRecord::save(std::ostream& out) {
  io::put(out, static_cast<std::uint64_t>(messages.size()));
  for (const Message& message : messages) {
    io::put(out, static_cast<std::uint64_t>(message.level));
    io::put(out, message.text);
  }
  io::put(out, static_cast<std::uint64_t>(slow ? 1 : 0));
  if (!slow) return;
  io::put(out, slow->fast_before_kcal_per_mol);
  io::put(out, slow->fast_after_kcal_per_mol);
  io::put(out, std::int64_t{slow->iterations});
}

void StartRecord::load(std::istream& in) {
  messages.clear();
  for (std::uint64_t left = io::get_u64(in); left > 0; --left) {
    const auto level = static_cast<Level>(io::get_u64(in));
    messages.push_back({level, io::get_string(in)});
  }
  slow.reset();
  if (io::get_u64(in) == 0) return;
  slow.emplace();
  slow->fast_before_kcal_per_mol = io::get_double(in);
  slow->fast_after_kcal_per_mol = io::get_double(in);
  slow->iterations = static_cast<int>(io::get_i64(in));
}

}  // namespace tarn
