#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tarn/observe/observers.hpp"
#include "tarn/observer.hpp"

/// @file
/// Observers of a program that uses the library, which a run takes beside those of the deck.

namespace tarn {

/// Makes them; makers that give none are left out. @throws InputError for an empty maker
std::vector<std::unique_ptr<Observer>> own_observers(const std::vector<ObserverMaker>& makers,
                                                     const RunInfo& run);

/// The files that they name.
/// @throws InputError for what is not the name of a file, is one of a run's own files, or is named
///         twice
std::vector<std::string> files_of(const std::vector<std::unique_ptr<Observer>>& own);

/// @throws InputError for two observers of one name, of which a checkpoint would know one only
void refuse_equal_names(const std::vector<std::unique_ptr<Observer>>& observers);

}  // namespace tarn
