#pragma once

#include <string>
#include <vector>

#include "folder_lock.hpp"
#include "tarn/deck.hpp"
#include "tarn/run.hpp"

namespace tarn {

/// The folder of a run and the rules about what already lies there. No other run writes into it
/// while this object lives.
class RunFolder {
 public:
  /// Looks, and changes nothing but that it locks a folder that is there.
  /// @throws InputError when another run writes into it, when there is a run that may be neither
  ///         resumed nor replaced, when the new run starts from files of it, or none to resume;
  ///         IoError when it could not be written to
  RunFolder(const Deck& deck, const RunOptions& options);

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string checkpoint() const { return file("checkpoint.bin"); }
  std::string record() const { return file("run.json"); }
  /// Whether to go on from the checkpoint.
  bool resumes() const { return resumes_; }

  /// Makes the folder; removes the files of an older run (nothing else) unless it is resumed, and
  /// what a killed program may have left half-written.
  /// @param own names of files of observers that are not the deck's; an older run may have left
  /// some
  /// @throws IoError; InputError when another run began there since the folder was looked at
  void prepare(const std::vector<std::string>& own = {});

 private:
  void check_contents();
  void refuse_to_replace_start(const Deck& deck) const;

  bool resume_, overwrite_;
  std::string path_;
  FolderLock lock_;
  bool resumes_ = false;
};

/// Whether a run of some deck may write a file of that name.
bool is_file_of_runs(const std::string& name);

/// `blow-up-0003.xyz`.
std::string blow_up_file_name(std::int64_t replica);

}  // namespace tarn
