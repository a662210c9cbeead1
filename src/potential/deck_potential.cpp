#include "tarn/deck_potential.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <span>
#include <stop_token>
#include <system_error>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "core/packing.hpp"
#include "core/text.hpp"
#include "deck/source.hpp"
#include "tarn/core/error.hpp"
#include "tarn/potential.h"
#include "tarn/socket_potential.hpp"

namespace tarn {
namespace {

namespace fs = std::filesystem;

/// Receives the words of a library, which need not end them with a zero.
class ErrorBuffer {
 public:
  ErrorBuffer() { text_.front() = text_.back() = '\0'; }
  char* data() { return text_.data(); }
  std::size_t size() const { return text_.size() - 1; }
  /// ": words", or that there are none.
  std::string words() const {
    const std::string line = one_line(text_.data());
    return line.empty() ? " without a message" : ": " + line;
  }

 private:
  std::array<char, 2048> text_;
};

/// Restores the current folder after a call of a library.
class KeptFolder {
 public:
  KeptFolder() : folder_(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) {}
  KeptFolder(const KeptFolder&) = delete;
  ~KeptFolder() {
    if (folder_ < 0) return;
    [[maybe_unused]] const int restored = ::fchdir(folder_);
    ::close(folder_);
  }

 private:
  const int folder_;
};

/// Extension modules of Python need its functions among the symbols that all libraries can use.
void share_python(void* library) {
  Dl_info python{};
  void* const function = ::dlsym(library, "Py_IsInitialized");
  if (function == nullptr || ::dladdr(function, &python) == 0) return;
  ::dlopen(python.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

class LibraryPotential final : public Potential {
 public:
  LibraryPotential(const fs::path& path, const std::string& options, int molecules,
                   const std::function<void(const Message&)>& on_message)
      : file_(path.filename().string()),
        name_(library_potential_name(path.string(), options)),
        size_(9 * static_cast<std::size_t>(molecules)) {
    // With a folder: dlopen() would search for a plain name elsewhere.
    const std::string file = fs::absolute(path).string();
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) {
      throw InputError(fmt::format("potential: there is no file {}", file));
    }
    const std::jthread note([&](const std::stop_token& loaded) {
      std::mutex mutex;
      std::unique_lock lock(mutex);
      constexpr std::chrono::seconds kLong(2);
      std::condition_variable_any().wait_for(lock, loaded, kLong, [] { return false; });
      if (loaded.stop_requested() || !on_message) return;
      try {
        on_message(Message::note(fmt::format("loading {}", name_)));
      } catch (...) {  // loading continues without the note
      }
    });
    const KeptFolder kept_folder;
    // It is never unloaded: libraries may leave threads and functions to be called at exit.
    void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      throw InputError(
          fmt::format("potential: {} cannot be loaded: {}", file_, one_line(dlerror())));
    }
    const auto find = [&](auto& function, const char* symbol) {
      void* const found = ::dlsym(library, symbol);
      if (found == nullptr) {
        throw InputError(
            fmt::format("potential: {} has no function {}; it must export the four functions of "
                        "tarn/potential.h, in C++ as extern \"C\"",
                        file, symbol));
      }
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    };
    decltype(&tarn_potential_version) version = nullptr;
    decltype(&tarn_potential_open) open = nullptr;
    find(version, "tarn_potential_version");
    find(open, "tarn_potential_open");
    find(compute_, "tarn_potential_compute");
    find(close_, "tarn_potential_close");
    if (const std::int32_t number = version(); number != TARN_POTENTIAL_VERSION) {
      throw InputError(fmt::format(
          "potential: {} has version {} of tarn/potential.h, and this program supports version {}; "
          "compile it with the header of this program",
          file_, number, TARN_POTENTIAL_VERSION));
    }
    share_python(library);
    ErrorBuffer error;
    handle_ = open(options.c_str(), molecules, error.data(), error.size());
    if (handle_ == nullptr) {
      throw InputError(fmt::format("potential: {} did not open{}", name_, error.words()));
    }
  }
  ~LibraryPotential() override {
    if (handle_ == nullptr) return;
    const KeptFolder kept_folder;
    close_(handle_);
  }
  LibraryPotential(const LibraryPotential&) = delete;
  LibraryPotential& operator=(const LibraryPotential&) = delete;

  void compute(std::span<const double> positions_A, std::span<const std::int64_t> image_ids,
               std::span<double> energies_kcal_per_mol,
               std::span<double> forces_kcal_per_mol_A) override {
    if (positions_A.size() != image_ids.size() * size_ ||
        forces_kcal_per_mol_A.size() != positions_A.size() ||
        energies_kcal_per_mol.size() != image_ids.size()) {
      throw InputError(
          fmt::format("potential: {} was opened for {} molecules; {} images have {} coordinates",
                      file_, size_ / 9, image_ids.size(), positions_A.size()));
    }
    if (image_ids.empty()) return;
    ErrorBuffer error;
    const KeptFolder kept_folder;
    const std::int32_t status = compute_(
        handle_, static_cast<std::int64_t>(image_ids.size()), image_ids.data(), positions_A.data(),
        energies_kcal_per_mol.data(), forces_kcal_per_mol_A.data(), error.data(), error.size());
    if (status == 0) return;
    throw NumericalError(
        fmt::format("potential: {} failed with status {}{}", file_, status, error.words()));
  }
  std::string name() const override { return name_; }

 private:
  std::string file_, name_;
  std::size_t size_;  ///< numbers per image
  decltype(&tarn_potential_compute) compute_ = nullptr;
  decltype(&tarn_potential_close) close_ = nullptr;
  void* handle_ = nullptr;
};

}  // namespace

std::shared_ptr<Potential> make_library_potential(
    const std::string& path, const std::string& options, int molecules,
    const std::function<void(const Message&)>& on_message) {
  return std::make_shared<LibraryPotential>(path, options, molecules, on_message);
}

namespace {

/// What a rank needs to make the potential of a deck.
struct Recipe {
  PotentialKind kind = PotentialKind::library;
  std::string place;  ///< path of a library, or address
  std::string options;
  int clients = 1;
  double timeout_s = 0.0;
  int molecules = 1;
};

std::string text_of(const Recipe& r) {
  Words words;
  Packer(words).put(r.kind).put(r.place).put(r.options);
  Packer(words).put(r.clients).put(r.timeout_s).put(r.molecules);
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(words[0])};
}

Recipe recipe_of(const std::string& text) {
  Words words(text.size() / sizeof(Words::value_type));
  std::memcpy(words.data(), text.data(), text.size());
  Unpacker from(words);
  Recipe r;
  from.take(r.kind).take(r.place).take(r.options);
  from.take(r.clients).take(r.timeout_s).take(r.molecules);
  return r;
}

/// Each rank listens at its own address.
ServeAddress address_of_rank(const std::string& text, int rank) {
  const decks::SocketAddress at = decks::socket_address(text).value();
  ServeAddress address{at.unix_name, at.host, at.port};
  if (rank == 0) return address;
  if (address.unix_name.empty()) {
    address.port += rank;
  } else {
    address.unix_name += fmt::format("-{}", rank);
  }
  return address;
}

std::shared_ptr<Potential> made(const Recipe& r, int rank, const PotentialCallbacks& callbacks) {
  if (r.kind == PotentialKind::library) {
    return make_library_potential(r.place, r.options, r.molecules, callbacks.on_message);
  }
  return make_socket_potential({.address = address_of_rank(r.place, rank),
                                .clients = r.clients,
                                .timeout_s = r.timeout_s,
                                .molecules = r.molecules,
                                .interrupted = callbacks.interrupted,
                                .on_message = callbacks.on_message});
}

/// A potential that other ranks can make.
class PotentialOfDeck final : public Potential {
 public:
  PotentialOfDeck(const Recipe& recipe, const PotentialCallbacks& callbacks)
      : recipe_(text_of(recipe)), potential_(made(recipe, 0, callbacks)) {}

  void compute(std::span<const double> positions_A, std::span<const std::int64_t> image_ids,
               std::span<double> energies_kcal_per_mol,
               std::span<double> forces_kcal_per_mol_A) override {
    potential_->compute(positions_A, image_ids, energies_kcal_per_mol, forces_kcal_per_mol_A);
  }
  std::string name() const override { return potential_->name(); }
  std::string recipe() const override { return recipe_; }

 private:
  std::string recipe_;
  std::shared_ptr<Potential> potential_;
};

}  // namespace

std::shared_ptr<Potential> make_potential(const Deck& deck, int molecules,
                                          const PotentialCallbacks& callbacks) {
  const PotentialKind kind = potential_kind(deck);
  if (kind != PotentialKind::library && kind != PotentialKind::socket) return nullptr;
  const PotentialSection& section = *deck.potential;
  const std::string place =
      kind == PotentialKind::library ? potential_path(deck).value() : section.address.value();
  return std::make_shared<PotentialOfDeck>(
      Recipe{kind, place, section.options, section.clients, section.timeout_s, molecules},
      callbacks);
}

std::shared_ptr<Potential> potential_of_rank(const std::string& recipe, int rank,
                                             const PotentialCallbacks& callbacks) {
  return made(recipe_of(recipe), rank, callbacks);
}

std::shared_ptr<Potential> potential_of(const Deck& deck, int molecules,
                                        const std::shared_ptr<Potential>& given,
                                        const PotentialCallbacks& callbacks) {
  if (potential_kind(deck) != PotentialKind::program) {
    return make_potential(deck, molecules, callbacks);
  }
  if (given) return given;
  throw InputError(fmt::format(
      "{}: with [potential] kind = \"program\" the forces come from a program, such as Python's "
      "tarn.run(deck, potential=f); for `tarn run` use kind = \"library\" or \"socket\"",
      deck.path));
}

}  // namespace tarn
