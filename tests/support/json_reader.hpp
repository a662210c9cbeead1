#pragma once

#include "testing.hpp"

namespace tarn::test {

/// A JSON value, for tests of JSON output. Escapes are checked but not decoded.
struct Json {
  enum class Kind { null, boolean, number, text, list, object };
  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0.0;
  std::string text;
  std::vector<Json> items;
  std::vector<std::pair<std::string, Json>> members;

  bool has(std::string_view key) const {
    for (const auto& member : members) {
      if (member.first == key) return true;
    }
    return false;
  }
  const Json& operator[](std::string_view key) const {
    for (const auto& member : members) {
      if (member.first == key) return member.second;
    }
    throw std::runtime_error("no key " + std::string(key));
  }
};

/// Reads one value strictly. @throws std::runtime_error at what is not JSON
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Json read() {
    const Json value = read_value();
    skip_blanks();
    if (at_ != text_.size()) fail();
    return value;
  }

 private:
  [[noreturn]] void fail() const {
    throw std::runtime_error("no JSON at " + std::to_string(at_) + " of: " + std::string(text_));
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  std::string read_string() {
    if (!take('"')) fail();
    std::string value;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) fail();
      if (text_[at_] == '\\') {
        value += text_[at_++];
        if (at_ >= text_.size() ||
            std::string_view("\"\\/bfnrtu").find(text_[at_]) == std::string_view::npos) {
          fail();
        }
      }
      value += text_[at_++];
    }
    if (!take('"')) fail();
    return value;
  }
  Json read_value() {
    Json value;
    skip_blanks();
    if (at_ >= text_.size()) fail();
    if (text_[at_] == '"') {
      value.kind = Json::Kind::text;
      value.text = read_string();
    } else if (take('{')) {
      value.kind = Json::Kind::object;
      while (!take('}')) {
        if (!value.members.empty() && !take(',')) fail();
        skip_blanks();
        std::string key = read_string();
        if (!take(':')) fail();
        value.members.emplace_back(std::move(key), read_value());
      }
    } else if (take('[')) {
      value.kind = Json::Kind::list;
      while (!take(']')) {
        if (!value.items.empty() && !take(',')) fail();
        value.items.push_back(read_value());
      }
    } else if (take_word("true")) {
      value.kind = Json::Kind::boolean;
      value.boolean = true;
    } else if (take_word("false")) {
      value.kind = Json::Kind::boolean;
    } else if (!take_word("null")) {
      value.kind = Json::Kind::number;
      const std::string rest(text_.substr(at_));
      char* end = nullptr;
      value.number = std::strtod(rest.c_str(), &end);
      // strtod takes words too.
      if (end == rest.c_str() ||
          std::string_view("-0123456789").find(rest[0]) == std::string_view::npos) {
        fail();
      }
      at_ += static_cast<std::size_t>(end - rest.c_str());
    }
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

inline Json json_of(std::string_view text) { return JsonReader(text).read(); }

}  // namespace tarn::test
