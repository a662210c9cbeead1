#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "makers.hpp"
#include "rdf_counts.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/observe/pictures.hpp"

namespace tarn {
namespace {

/// Gathers the pair counts of the engine and writes rdf.csv at the end.
///
/// The engine counts inside advance(), at every step that was asked for; this observer looks at the
/// sums only where a time block ends, and at the last step.
class RdfObserver final : public Observer {
 public:
  RdfObserver(const PairCountRequest& counts, const RunInfo& info)
      : request_(counts), info_(info), sums_(counts, info.molecules), restored_(sums_) {}

  std::string name() const override {
    std::string pairs;
    for (int c = 0; c < kPairClasses; ++c) {
      if (request_.pairs[c]) pairs += fmt::format(" {}", pair_name(c));
    }
    return fmt::format("rdf every {} from step {} pairs{} bins {} r_max_A {:.17g}", request_.every,
                       request_.first_step, pairs, request_.bins, request_.r_max_A);
  }
  unsigned fields() const override { return kPairCounts; }
  std::int64_t every() const override {
    return RdfCounts::uses_groups(info_.replicas) ? kOnlyAtTheEnd
                                                  : request_.every * sums_.block_length();
  }

  void begin() override {}
  void observe(const Frame& frame) override {
    catch_up(frame);
    if (!RdfCounts::uses_groups(info_.replicas)) sums_.end_block();
  }
  void catch_up(const Frame& frame) override {
    for (std::size_t i = 0; i < sums_.counts.size(); ++i) {
      sums_.counts[i] = restored_.counts[i] + frame.pair_counts.at(i);
    }
    for (std::size_t g = 0; g < sums_.samples.size(); ++g) {
      sums_.samples[g] = restored_.samples[g] + frame.pair_samples[g];
    }
  }

  void save(std::ostream& out) override { sums_.save(out); }
  void load(std::istream& in) override {
    sums_.load(in);
    restored_ = sums_;
  }

  void finish() override {
    const std::string path = info_.out_dir + "/rdf.csv";
    const bool one_bath = std::set(info_.baths_K.begin(), info_.baths_K.end()).size() < 2;
    const std::string provenance =
        info_.provenance + (one_bath ? "" : "; baths of several temperatures");
    io::write_file(path, sums_.csv(path, provenance, info_.replicas));
  }
  Pictures draw() override { return draw_rdf(info_.out_dir); }

 private:
  PairCountRequest request_;
  RunInfo info_;
  RdfCounts sums_;
  // The engine counts from zero when it is made; what a checkpoint held is added.
  RdfCounts restored_;
};

}  // namespace

std::unique_ptr<Observer> make_rdf(const PairCountRequest& counts, const RunInfo& info) {
  return std::make_unique<RdfObserver>(counts, info);
}

}  // namespace tarn
