#include "centred_engine.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace tarn {
namespace {

void centre(const WaterModel& model, std::size_t molecules, std::vector<double>& positions_A) {
  const std::size_t size = molecules * kCoordinatesPerMolecule;
  for (std::size_t begin = 0; begin < positions_A.size(); begin += size) {
    std::array<double, 3> moment{};
    for (std::size_t i = 0; i < size; ++i) {
      const int atom = static_cast<int>(i % kCoordinatesPerMolecule) / 3;
      moment[i % 3] += model.mass_Da(atom) * positions_A[begin + i];
    }
    const double mass_Da = model.molecule_mass_Da() * static_cast<double>(molecules);
    for (std::size_t i = 0; i < size; ++i) positions_A[begin + i] -= moment[i % 3] / mass_Da;
  }
}

class CentredEngine final : public Engine {
 public:
  CentredEngine(std::unique_ptr<Engine> engine, const WaterModel& model)
      : engine_(std::move(engine)), model_(model) {}

  void advance(std::int64_t n_steps) override { engine_->advance(n_steps); }
  std::int64_t step() const override { return engine_->step(); }
  void snapshot(unsigned fields, Frame& frame) override {
    engine_->snapshot(fields, frame);
    const auto molecules = static_cast<std::size_t>(frame.molecules);
    centre(model_, molecules, frame.positions_A);
    centre(model_, molecules, frame.own_positions_A);
  }
  void exchange(std::span<const StateExchange> pairs) override { engine_->exchange(pairs); }
  State state() const override { return engine_->state(); }
  std::vector<BlowUp> blow_ups() const override { return engine_->blow_ups(); }
  EngineReport report() const override { return engine_->report(); }
  std::string description() const override { return engine_->description(); }
  std::string arithmetic() const override { return engine_->arithmetic(); }

 private:
  std::unique_ptr<Engine> engine_;
  WaterModel model_;
};

}  // namespace

std::unique_ptr<Engine> centred(std::unique_ptr<Engine> engine, const WaterModel& model) {
  return std::make_unique<CentredEngine>(std::move(engine), model);
}

}  // namespace tarn
