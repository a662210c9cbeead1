#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tarn/observe/observers.hpp"

namespace tarn::test {

/// The first observer of a deck with such a name, for runs into the folder; null if there is none.
inline std::unique_ptr<Observer> observer_of(const Deck& d, const std::string& folder,
                                             std::string_view name = "") {
  const RunInfo info{folder,
                     d.system.molecules,
                     d.system.replicas,
                     "tarn; test, seed 1",
                     d.integrator.timestep_fs,
                     first_averaged_step(d)};
  for (auto& observer : make_observers(d, info)) {
    if (observer->name().starts_with(name)) return std::move(observer);
  }
  return nullptr;
}

}  // namespace tarn::test
