#include "tarn/ensemble.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "deck/notes.hpp"
#include "io/checkpoint.hpp"
#include "parallel/frame_parts.hpp"
#include "progress.hpp"
#include "run_messages.hpp"
#include "run_observers.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck_potential.hpp"
#include "tarn/potential.hpp"
#include "tarn/start_state.hpp"
#include "tarn/version.hpp"

namespace tarn {

struct Ensemble::Impl {
  Deck deck;
  System system;
  Messages messages{};
  State stopped{};                         ///< replicas stopped before load()
  std::vector<BlowUp> earlier_blow_ups{};  ///< of these
  std::unique_ptr<Engine> engine{};
  Pace pace{};
  /// Asked while the engine computes; empty: goes on.
  std::function<bool()> should_continue{};

  void make_engine(const State& start, DeviceRequest device) {
    const PotentialCallbacks callbacks{
        [this] { return should_continue && !should_continue(); },
        [this](const Message& message) { messages.push_back(message); }};
    device.potential = potential_of(deck, start.molecules, device.potential, callbacks);
    if (device.name == "auto" && !device.potential) {
      device.name = auto_device(system, start.replicas(), device.threads).name;
    }
    try {
      engine = tarn::make_engine(system, start, {}, device);
    } catch (const PotentialInterrupted&) {
      throw StartInterrupted();
    }
    if (deck.system.recentre) engine = centred(std::move(engine), system);
  }
};

Ensemble::Ensemble(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Ensemble::Ensemble(const Deck& deck, const DeviceRequest& device, const StartProgress& progress) {
  if (deck.exchange) {
    throw InputError(fmt::format(
        "{}: an Ensemble does not exchange replicas; remove [exchange], or run the deck",
        deck.path));
  }
  const Deck used = device.potential ? with_potential(deck, device.potential->name()) : deck;
  Deck with_threads = used;
  with_threads.run.threads = device.threads;
  Start start = make_start(with_threads, progress);
  if (deck.heat) start.state.heat_kcal_per_mol.assign(start.state.positions_A.size() / 9, 0.0);
  impl_ = std::make_unique<Impl>(Impl{used, make_system(used, start.state.molecules)});
  impl_->messages = std::move(start.messages);
  append(decks::warning_of_resonance(deck), impl_->messages);
  if (progress) {
    impl_->should_continue = [&progress, n = deck.system.replicas] { return progress(n, n); };
  }
  impl_->make_engine(start.state, device);
  impl_->should_continue = {};
}

Ensemble Ensemble::load(const std::string& path, const DeviceRequest& device) {
  // On the heap: GCC 12 wrongly reports that the path of a local deck may be uninitialised.
  const auto from = std::make_unique<Deck>();
  from->system.state = path;
  StartState saved = read_start_state(*from);
  const bool by_program = potential_kind(saved.deck) == PotentialKind::program;
  const std::string then = by_program ? potential_text(saved.deck) : std::string{};
  const std::string now = device.potential ? device.potential->name() : std::string{};
  if (then != now) {
    const auto text = [](const std::string& name) {
      return name.empty() ? "the deck" : "the potential '" + name + "'";
    };
    throw InputError(fmt::format(
        "cannot continue from '{}': its forces are those of {}, not of {}. To continue with other "
        "forces, set [system] state of a deck to this path",
        path, text(then), text(now)));
  }
  auto impl =
      std::make_unique<Impl>(Impl{saved.deck, make_system(saved.deck, saved.state.molecules)});
  LiveAndStopped parts = split(std::move(saved.state), saved.blow_ups);
  if (parts.live.replica_ids.empty()) {
    throw NumericalError(fmt::format("cannot continue from '{}': all replicas failed", path));
  }
  impl->stopped = std::move(parts.stopped);
  impl->earlier_blow_ups = std::move(saved.blow_ups);
  impl->make_engine(parts.live, device);
  return Ensemble(std::move(impl));
}

Ensemble::~Ensemble() = default;
Ensemble::Ensemble(Ensemble&&) noexcept = default;
Ensemble& Ensemble::operator=(Ensemble&&) noexcept = default;

const Deck& Ensemble::deck() const { return impl_->deck; }
const System& Ensemble::system() const { return impl_->system; }
const Messages& Ensemble::messages() const { return impl_->messages; }
std::int64_t Ensemble::replicas() const { return impl_->deck.system.replicas; }

bool Ensemble::advance(std::int64_t steps, const std::function<bool()>& should_continue) {
  Impl& s = *impl_;
  s.should_continue = should_continue;
  while (steps > 0) {
    const std::int64_t some = should_continue ? std::min(steps, s.pace.steps()) : steps;
    s.pace.begin();
    try {
      s.engine->advance(some);
    } catch (const PotentialInterrupted&) {
      return false;
    }
    s.pace.note(some);
    steps -= some;
    if (steps > 0 && !should_continue()) return false;
  }
  return true;
}

std::int64_t Ensemble::step() const { return impl_->engine->step(); }
double Ensemble::time_ps() const {
  return static_cast<double>(step()) * impl_->deck.integrator.timestep_fs / 1000.0;
}
void Ensemble::snapshot(unsigned fields, Frame& frame) { impl_->engine->snapshot(fields, frame); }
State Ensemble::state() const { return impl_->engine->state(); }

std::vector<BlowUp> Ensemble::blow_ups() const {
  return parallel::joined(std::array{impl_->earlier_blow_ups, impl_->engine->blow_ups()});
}
std::string Ensemble::text(const BlowUp& blow_up) const {
  return describe(blow_up, impl_->deck, impl_->engine->report().indefinite_hessians,
                  impl_->system.molecules);
}

void Ensemble::save(const std::string& path) const {
  io::write_checkpoint(path, {std::string(kVersion),
                              physics_fingerprint(impl_->deck),
                              impl_->engine->arithmetic(),
                              join(state(), impl_->stopped),
                              blow_ups(),
                              {}});
}
std::string Ensemble::device() const { return impl_->engine->description(); }

}  // namespace tarn
