#include "final_structures.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "io/xyz_comment.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/io_error.hpp"
#include "tarn/io/xyz.hpp"

namespace tarn {

FinalStructures::FinalStructures(const Deck& deck, const RunInfo& info, Engine& engine)
    : model_(deck.system.model),
      push_fs2_(push_fs2(deck.integrator)),
      info_(info),
      engine_(engine),
      replicas_(deck.final_structures->replicas.count_of(info.replicas)) {}

std::string FinalStructures::name() const {
  return fmt::format("final structures of {} replicas", replicas_);
}

std::string FinalStructures::path_of(std::int64_t replica) const {
  if (info_.replicas == 1) return info_.out_dir + "/final.xyz";
  return fmt::format("{}/final-{:04}.xyz", info_.out_dir, replica);
}

void FinalStructures::load(std::istream& /*in*/) {
  for (std::int64_t replica = 0; replica < replicas_; ++replica) {
    std::error_code error;
    std::filesystem::remove(path_of(replica), error);
    if (error) io::throw_io_error("remove", path_of(replica), error.value());
  }
}

void FinalStructures::finish() {
  Frame frame;
  engine_.snapshot(kOwnPositions | kVelocities, frame);
  const std::string potential =
      info_.potential ? io::potential_key(info_.potential->name()) : std::string();
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
    const std::int64_t replica = frame.replica_ids[r];
    if (replica >= replicas_) continue;
    std::string keys =
        fmt::format("model={} {}step={} time_ps={:.17g} replica={} pbc=\"F F F\"", model_,
                    potential, frame.step, info_.time_ps(frame.step), replica);
    // A run that starts from this file with another time step prints a warning.
    if (push_fs2_ > 0.0) keys += fmt::format(" push_fs2={:.17g}", push_fs2_);
    io::write_file(path_of(replica), io::xyz_frame(frame.own_positions_A_of(r),
                                                   frame.velocities_A_per_akma_of(r), keys));
  }
}

}  // namespace tarn
