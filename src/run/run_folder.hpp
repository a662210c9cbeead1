#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"
#include "tarn/run.hpp"

namespace tarn {

/// Restricts a folder to one writer by a system lock on its file `.tarn-lock`. The lock is released
/// with this object, or when the program exits or is killed. The destructor removes the file; a
/// file left by a killed program is not locked and is reused.
///
/// Does not exclude other writers on file systems without locks; see note().
class FolderLock {
 public:
  /// @param folder existing folder
  /// @throws InputError if another writer, in this or another program, has the lock; IoError
  explicit FolderLock(const std::string& folder);
  FolderLock(const FolderLock&) = delete;
  ~FolderLock();

  /// For the user, if other writers may not be detected.
  std::optional<Message> note() const;

 private:
  std::string path_;
  int descriptor_ = -1;
  bool excludes_others_ = true;
};

/// The folder of a run, and the checks of its existing contents. No other run can write to it
/// during the lifetime of this object.
class RunFolder {
 public:
  /// Checks the folder and, if it exists, locks it; changes nothing else.
  /// @throws InputError if another run is writing to it, if it contains a run and neither resume
  ///         nor overwrite is set, if the new run starts from files in it, or if there is no run to
  ///         resume; IoError if it is not writable
  RunFolder(const Deck& deck, const RunOptions& options);

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string checkpoint() const { return file("checkpoint.bin"); }
  std::string record() const { return file("run.json"); }
  /// Whether the run continues from the checkpoint.
  bool resumes() const { return resumes_; }
  /// For the user, if other runs in the folder may not be detected. Known after prepare().
  std::optional<Message> note_on_lock() const { return lock_->note(); }

  /// Creates the folder. Removes temporary files of killed programs and, unless the run is resumed,
  /// the files of an older run; other files stay.
  /// @param own files of custom observers, which an older run may have left
  /// @throws IoError; InputError if another run started there after the constructor's check
  void prepare(const std::vector<std::string>& own = {});

 private:
  void check_contents();
  void refuse_to_replace_start(const Deck& deck) const;

  bool resume_, overwrite_;
  std::string path_;
  std::optional<FolderLock> lock_;  ///< once the folder exists
  bool resumes_ = false;
};

/// Whether a run of any deck may write a file with this name.
bool is_file_of_runs(const std::string& name);

/// `blow-up-0003.xyz`.
std::string blow_up_file_name(std::int64_t replica);

}  // namespace tarn
