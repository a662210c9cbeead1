#include "table_observer.hpp"

#include <utility>

#include <fmt/format.h>

#include "tarn/io/binary.hpp"

namespace tarn {

TableObserver::TableObserver(TableSpec spec, std::int64_t every, const ReplicaSelection& replicas,
                             const RunInfo& info)
    : spec_(std::move(spec)),
      every_(every),
      replicas_(replicas),
      info_(info),
      table_(fmt::format("{}/{}.csv", info.out_dir, spec_.file), spec_.columns, replicas) {}

std::string TableObserver::name() const {
  return fmt::format("{} every {} replicas {}", spec_.file, every_, selection_text(replicas_));
}

void TableObserver::observe(const Frame& frame) {
  std::vector<double> values;
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) spec_.append_values(frame, r, values);
  table_.write(frame, values);
}

void TableObserver::save(std::ostream& out) {
  table_.sync();
  io::put(out, table_.length());
  if (spec_.save) spec_.save(out);
}

void TableObserver::load(std::istream& in) {
  table_.cut(io::get_u64(in));
  if (spec_.load) spec_.load(in);
}

}  // namespace tarn
