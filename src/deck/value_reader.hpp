#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema.hpp"
#include "source.hpp"

namespace tarn::decks {

/// Checks the values of a deck against the types and ranges of their keys.
class ValueReader {
 public:
  /// @param deck the values read so far, which determine the available choices of the schema
  /// @param problems receives the problems
  ValueReader(const Schema& schema, const Deck& deck, std::vector<Problem>& problems)
      : schema_(schema), deck_(deck), problems_(problems) {}

  /// @return the value; empty if it has a problem
  std::optional<Value> read(const Key& key, const RawValue& raw);

 private:
  std::optional<Value> read_value(const Key& key, const RawValue& raw);
  std::optional<Value> read_number(const Key& key, const RawValue& raw);
  std::optional<Value> read_choice(const Key& key, const RawValue& raw);
  std::optional<Value> read_choices(const Key& key, const RawValue& raw);
  /// @param read std::optional<Value>(const RawValue& item), which reports problems
  template <class T, class Read>
  std::optional<Value> read_list(const Key& key, const RawValue& raw, const Read& read);
  std::nullopt_t wrong_type(const Key& key, const RawValue& raw);
  /// Reports a problem.
  std::nullopt_t refuse(const Place& place, std::string message);
  /// The key with only the choices that are available in this deck.
  Key with_available_choices(const Key& key) const;

  const Schema& schema_;
  const Deck& deck_;
  std::vector<Problem>& problems_;
};

}  // namespace tarn::decks
