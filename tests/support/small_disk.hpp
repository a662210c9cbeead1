#pragma once

#include <filesystem>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <unistd.h>
#include <utility>

#include "scratch_folder.hpp"

namespace tarn::test {

/// A small disk at a folder, in a name space of this process; `made` tells whether it worked.
class SmallDisk {
 public:
  SmallDisk(std::string folder, const std::string& size) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    const uid_t user = ::getuid();
    const gid_t group = ::getgid();
    if (::unshare(CLONE_NEWNS) != 0) {
      if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return;
      write_text("/proc/self/setgroups", "deny");
      write_text("/proc/self/uid_map", "0 " + std::to_string(user) + " 1");
      write_text("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
    }
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
    made_ = ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (made_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  bool made() const { return made_; }
  bool resize(const std::string& size) const {
    const std::string option = "size=" + size;
    return ::mount("tmpfs", folder_.c_str(), "tmpfs", MS_REMOUNT, option.c_str()) == 0;
  }

 private:
  std::string folder_;
  bool made_ = false;
};

}  // namespace tarn::test
