#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tarn/observe/observers.hpp"
#include "tarn/observer.hpp"

/// @file
/// Custom observers: those a program that uses the library adds to the deck's.

namespace tarn {

/// Creates the observers and skips makers that return null. @throws InputError for an empty maker
std::vector<std::unique_ptr<Observer>> custom_observers(const std::vector<ObserverMaker>& makers,
                                                        const RunInfo& run);

/// The files they write.
/// @throws InputError for an invalid file name, a file that the run itself writes, or a file that
///         two observers write
std::vector<std::string> files_of(const std::vector<std::unique_ptr<Observer>>& own);

/// @throws InputError for two observers with the same name, which a checkpoint cannot distinguish
void refuse_equal_names(const std::vector<std::unique_ptr<Observer>>& observers);

}  // namespace tarn
