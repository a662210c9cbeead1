#include "processors.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

namespace tarn {
namespace {

int count_processors() {
  int count = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1u));
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) count = std::max(CPU_COUNT(&set), 1);
#endif
  const double quota = quota_of_control_group("/proc/self/cgroup", "/sys/fs/cgroup");
  return quota > 0.0 ? std::min(count, std::max(static_cast<int>(std::ceil(quota)), 1)) : count;
}

}  // namespace

std::string processor_name(const std::string& cpuinfo) {
  std::ifstream lines(cpuinfo);
  std::map<std::string, std::string> values;
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream key_words(line.substr(0, colon)), value_words(line.substr(colon + 1));
    const auto joined = [](std::istringstream& words) {
      std::string all;
      for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
      return all;
    };
    values[joined(key_words)] = joined(value_words);
  }
  std::string name = values["model name"];
  if (!name.empty() && !values["cpu family"].empty() && !values["model"].empty()) {
    name += " (family " + values["cpu family"] + ", model " + values["model"] + ")";
  }
  return name;
}

std::string cpu_description(const std::string& arithmetic, int threads) {
  const std::string name = processor_name();
  return arithmetic + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads") +
         (name.empty() ? "" : ", " + name);
}

double quota_of_control_group(const std::string& groups, const std::string& root) {
  std::ifstream lines(groups);
  std::string line, folder;
  while (std::getline(lines, line)) {
    if (line.starts_with("0::/")) folder = line.substr(3);
  }
  double least = 0.0;
  while (!folder.empty()) {
    std::ifstream file(root + folder + "/cpu.max");
    double quota = 0.0, period = 0.0;  // reading fails for a quota of "max"
    if (file >> quota >> period && quota > 0.0 && period > 0.0) {
      least = least > 0.0 ? std::min(least, quota / period) : quota / period;
    }
    folder = folder == "/" ? "" : folder.substr(0, std::max<std::size_t>(folder.rfind('/'), 1));
  }
  return least;
}

bool has_instructions(std::string_view name) {
#if defined(__x86_64__)
  if (name == "avx512") {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd");
  }
  if (name == "avx2") return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return name == "portable";
}

const std::string& wanted_instructions() {
  static const std::string wanted = [] {
    const char* const name = std::getenv("TARN_CPU_KERNELS");
    return std::string(name == nullptr ? "" : name);
  }();
  return wanted;
}

int processors() {
  static const int count = count_processors();
  return count;
}

int default_threads() {
  const char* const asked = std::getenv("OMP_NUM_THREADS");
  const long threads = asked != nullptr ? std::strtol(asked, nullptr, 10) : 0;
  return threads > 0 && threads <= 4096 ? static_cast<int>(threads) : processors();
}

}  // namespace tarn
