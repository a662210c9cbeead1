#include <chrono>

#include "src/cpu/group_steps.hpp"
#include "testing.hpp"

/// @file
/// The stages that the first half of a step is counted in, with passes that take a given time.

namespace tarn::cpu {
namespace {

using Clock = std::chrono::steady_clock;

struct Packs {
  double *v, *v_thermal, *heat;
};
struct Passes {
  PassReport (*begin)(int, const Packs&, std::int64_t);
  void (*noise)(int, const Packs&, std::int64_t);
};

std::vector<std::string> calls;
Packs packs_of_noise;
Clock::duration time_of_noise;

/// Waits from `begin` on. @return the time that it took
Clock::duration wait(Clock::time_point begin, Clock::duration time) {
  while (Clock::now() - begin < time) continue;
  return Clock::now() - begin;
}
void noise_alone(int, const Packs& packs, std::int64_t) {
  const Clock::time_point begin = Clock::now();
  calls.emplace_back("noise");
  packs_of_noise = packs;
  time_of_noise = wait(begin, std::chrono::milliseconds(20));
}
PassReport five_times_the_noise(int, const Packs&, std::int64_t) {
  calls.emplace_back("begin");
  wait(Clock::now(), 5 * time_of_noise);
  return {-1, 7, 0};
}

struct Context {
  Thermostat of;
  struct {
    Move move;
  } passes;
  std::size_t kind = 0;
  Thermostat thermostat() const { return of; }
};
struct Steps {
  Context context;
  struct {
    std::array<Passes, 1> kinds{Passes{five_times_the_noise, noise_alone}};
  } kernels{};
  std::array<double, 3> memory{};
  Packs packs{&memory[0], &memory[1], &memory[2]};
  int numbers = 0;
  EngineReport report{};
  StageClock clock{};
};

EngineReport report_of(Thermostat thermostat, Move move, bool is_timed, Steps& steps) {
  calls.clear();
  time_of_noise = {};
  steps.context = {thermostat, {move}};
  steps.clock = StageClock(is_timed);
  first_half(steps, 0);
  return steps.report;
}

/// The drifts of BAOAB, with their constraints, are in the pass that has the noise. They take four
/// times as long as the noise here, less what the machine does between a pass and its clock.
TEST(StepStages, SolvesOfBaoabAreBondsAndItsNoiseIsNoise) {
  for (const Move move : {Move::newton, Move::sweeps, Move::settle}) {
    Steps steps;
    const EngineReport r = report_of(Thermostat::baoab, move, true, steps);
    EXPECT_EQ(calls, (std::vector<std::string>{"noise", "begin"}));
    EXPECT_EQ(packs_of_noise.v, steps.packs.v_thermal) << "velocities would get noise twice";
    EXPECT_EQ(packs_of_noise.heat, nullptr);
    EXPECT_GE(r.noise_seconds, 2e-3 * kTimedSteps);
    EXPECT_GT(r.bond_seconds, r.noise_seconds);
    EXPECT_EQ(r.rest_seconds, 0.0);
    EXPECT_EQ(r.constraint_iterations, 7);
  }
  Steps steps;
  const EngineReport r = report_of(Thermostat::baoab, Move::free, true, steps);
  EXPECT_GT(r.rest_seconds, r.noise_seconds);
  EXPECT_EQ(r.bond_seconds, 0.0);
}

/// Without BAOAB there is no noise in the pass, and steps that are not timed cost nothing more.
TEST(StepStages, OnlyTimedStepsOfBaoabAddTheNoiseAlone) {
  for (const Thermostat thermostat : {Thermostat::none, Thermostat::gla}) {
    Steps steps;
    const EngineReport r = report_of(thermostat, Move::settle, true, steps);
    EXPECT_EQ(calls, std::vector<std::string>{"begin"});
    EXPECT_GT(r.bond_seconds, 0.0);
    EXPECT_EQ(r.noise_seconds + r.rest_seconds, 0.0);
  }
  Steps steps;
  const EngineReport r = report_of(Thermostat::baoab, Move::settle, false, steps);
  EXPECT_EQ(calls, std::vector<std::string>{"begin"});
  EXPECT_EQ(r.noise_seconds + r.bond_seconds + r.rest_seconds, 0.0);
}

}  // namespace
}  // namespace tarn::cpu
