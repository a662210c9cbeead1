#pragma once

#include <string>

#include "tarn/deck.hpp"
#include "tarn/run.hpp"

namespace tarn {

/// The folder of a run and the rules about what already lies there.
class RunFolder {
 public:
  /// Looks, and changes nothing.
  /// @throws InputError when there is a run that may be neither resumed nor replaced, or none to
  ///         resume; IoError when the folder could not be written to
  RunFolder(const Deck& deck, const RunOptions& options);

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string checkpoint() const { return file("checkpoint.bin"); }
  std::string record() const { return file("run.json"); }
  /// Whether to go on from the checkpoint.
  bool resumes() const { return resumes_; }

  /// Makes the folder; removes the files of an older run (nothing else) unless it is resumed, and
  /// what a killed program may have left half-written. @throws IoError
  void prepare() const;

 private:
  std::string path_;
  bool resumes_ = false;
};

/// `blow-up-0003.xyz`.
std::string blow_up_file_name(std::int64_t replica);

}  // namespace tarn
