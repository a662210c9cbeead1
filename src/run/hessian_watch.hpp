#pragma once

#include <cstdint>

#include "tarn/observer.hpp"

namespace tarn {

/// Counts the Hessians that were not positive definite, those before a restart among them. Writes
/// no file.
class HessianWatch final : public Observer {
 public:
  explicit HessianWatch(const Engine& engine) : engine_(engine) {}

  std::string name() const override { return "indefinite Hessians"; }
  unsigned fields() const override { return kNoFields; }
  std::int64_t every() const override { return kOnlyAtTheEnd; }
  void begin() override {}
  void observe(const Frame& /*frame*/) override {}
  void save(std::ostream& out) override;
  void load(std::istream& in) override;
  void finish() override {}

  std::int64_t count() const { return before_ + engine_.report().indefinite_hessians; }

 private:
  const Engine& engine_;
  std::int64_t before_ = 0;
};

}  // namespace tarn
