#pragma once

#include <cstdint>

#include "checkpoint_only_observer.hpp"

namespace tarn {

/// Counts the Hessians that were not positive definite, including those before a restart.
class IndefiniteHessianCounter final : public CheckpointOnlyObserver {
 public:
  explicit IndefiniteHessianCounter(const Engine& engine) : engine_(engine) {}

  std::string name() const override { return "indefinite Hessians"; }
  void save(std::ostream& out) override;
  void load(std::istream& in) override;

  std::int64_t count() const { return before_ + engine_.report().indefinite_hessians; }

 private:
  const Engine& engine_;
  std::int64_t before_ = 0;
};

}  // namespace tarn
