#include "tarn/many_body.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/aligned.hpp"
#include "core/parallel.hpp"
#include "core/processors.hpp"
#include "kernels.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/number.hpp"

namespace tarn {

using namespace many_body;

std::string_view failure_text(ImageFailure failure) {
  switch (failure) {
    case ImageFailure::none:
      return "";
    case ImageFailure::too_close:
      return "two oxygen atoms are closer than 2 A, where the model is not defined";
    case ImageFailure::broken_molecule:
      return "an OH bond is shorter than 0.5 A or longer than 2 A";
    case ImageFailure::polarisation:
      return "the induced dipoles diverge: molecules are too close";
  }
  return "";
}

namespace {

/// A dimer or trimer of an image of the block.
struct Cluster {
  int image;
  std::array<int, 3> molecules;
};

/// Memory of a block.
struct BlockMemory {
  AlignedVector<double> x, gradient, terms, dipole, pivot, work, clusters;
  std::vector<Cluster> dimers, trimers;
  std::vector<double> distances;
  std::array<ImageFailure, kImages> failures;

  void resize(int molecules) {
    const auto rows = static_cast<std::size_t>(9 * molecules);
    x.resize(rows * kImages);
    gradient.resize(rows * kImages);
    terms.resize(std::size_t{kTerms} * kImages);
    dipole.resize(std::size_t{3} * kImages);
    pivot.resize(kImages);
    work.resize(work_size(molecules));
  }
};

}  // namespace

class ManyBody::Work {
 public:
  Work(ManyBodyModel model, bool mixed, int threads, std::string_view instruction_set,
       const std::array<double, 3>& field)
      : is_mbpol_(model == ManyBodyModel::mbpol),
        mixed_(mixed),
        threads_(threads),
        field_(field),
        kernels_(instruction_set.empty() ? &best_kernels() : kernels_named(instruction_set)) {
    if (kernels_ == nullptr) {
      throw InputError("this build has no instruction set \"" + std::string(instruction_set) +
                       "\"");
    }
    if (model == ManyBodyModel::none) throw InputError("a pairwise model has no many-body terms");
    using Names = std::vector<std::string>;
    names_ = is_mbpol_
                 ? Names{"one_body", "two_body", "three_body", "dispersion", "charges", "induction"}
                 : Names{"coulomb", "lj", "induction"};
    if (field_ != std::array<double, 3>{}) names_.emplace_back("field");
  }

  const std::vector<std::string>& names() const { return names_; }
  void compute(int molecules, std::span<const double> positions, const ManyBodyResults& results) {
    const auto size = static_cast<std::size_t>(9 * molecules);
    if (molecules < 1 || positions.size() % size != 0) {
      throw InputError("positions of many-body water must have the shape [image][molecule][3][3]");
    }
    const auto images = static_cast<std::int64_t>(positions.size() / size);
    const std::int64_t blocks = (images + kImages - 1) / kImages;
    const SharedLoop loop(blocks);
    const int team = loop.team(threads_);
    if (memory_.size() < static_cast<std::size_t>(team)) {
      memory_.resize(static_cast<std::size_t>(team));
    }
    // With a single thread for the blocks, threads share the dimers and trimers of a block.
    const int inner_threads = team > 1 ? 1 : threads_;
    for_each_index(
        blocks, threads_, [&](int rank) { return &memory_[static_cast<std::size_t>(rank)]; },
        [&](BlockMemory* memory, std::int64_t block) {
          const FlushDenormals flush;
          const std::int64_t first = block * kImages;
          const int count = static_cast<int>(std::min<std::int64_t>(kImages, images - first));
          memory->resize(molecules);
          compute_block(molecules, &positions[static_cast<std::size_t>(first) * size], count,
                        inner_threads, *memory);
          for (int image = 0; image < count; ++image) {
            write(molecules, *memory, image, static_cast<std::size_t>(first + image), results);
          }
        });
  }

 private:
  void compute_block(int molecules, const double* positions, int count, int threads,
                     BlockMemory& m) const {
    const int size = 9 * molecules;
    for (int image = 0; image < kImages; ++image) {  // the last image fills up the block
      const double* const from = positions + std::min(image, count - 1) * size;
      for (int k = 0; k < size; ++k) m.x[static_cast<std::size_t>(k * kImages + image)] = from[k];
    }
    m.dimers.clear();
    m.trimers.clear();
    for (int image = 0; image < count; ++image) {
      m.failures[static_cast<std::size_t>(image)] =
          list_clusters(molecules, positions + image * size, image, m);
    }
    const Block block{molecules,
                      count,
                      m.x.data(),
                      m.gradient.data(),
                      m.terms.data(),
                      m.dipole.data(),
                      m.pivot.data(),
                      m.work.data(),
                      monomer_surface().rows(),
                      charge_surface().rows(),
                      field_};
    if (!is_mbpol_) return kernels_->dang_chang(block);
    kernels_->mbpol(block);
    add_clusters<2>(m.dimers, kernels_->lanes, threads, m, [&](const double* in, double* out) {
      kernels_->dimers(two_body_table().view(), in, out);
    });
    if (mixed_) {
      add_clusters<3>(m.trimers, kernels_->rounded_lanes, threads, m,
                      [&](const double* in, double* out) {
                        kernels_->rounded_trimers(three_body_table().rounded_view(), in, out);
                      });
    } else {
      add_clusters<3>(m.trimers, kernels_->lanes, threads, m, [&](const double* in, double* out) {
        kernels_->trimers(three_body_table().view(), in, out);
      });
    }
  }

  /// Adds the dimers and trimers of an image to the lists.
  ImageFailure list_clusters(int n, const double* x, int image, BlockMemory& m) const {
    const auto distance = [&](int atom, int other) {
      double square = 0.0;
      for (int k = 0; k < 3; ++k) {
        const double d = x[3 * atom + k] - x[3 * other + k];
        square += d * d;
      }
      return std::sqrt(square);
    };
    auto failure = ImageFailure::none;
    m.distances.resize(static_cast<std::size_t>(n * n));
    const auto oo = [&](int i, int j) -> double& {
      return m.distances[static_cast<std::size_t>(i * n + j)];
    };
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) {
        const double r = oo(i, j) = distance(3 * i, 3 * j);
        if (is_mbpol_ && r < kShortestOo) {
          failure = ImageFailure::too_close;
        } else if (r < kDimerLimit) {
          m.dimers.push_back({image, {i, j, 0}});
        }
      }
    }
    const auto near = [](double r) { return r < kTrimerLimit ? 1 : 0; };
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) {
        const double ij = oo(i, j);
        if (ij < kShortestOo) continue;
        for (int k = j + 1; k < n; ++k) {
          const double ik = oo(i, k), jk = oo(j, k);
          if (near(ij) + near(ik) + near(jk) >= 2 && ik >= kShortestOo && jk >= kShortestOo) {
            m.trimers.push_back({image, {i, j, k}});
          }
        }
      }
    }
    for (int atom = 0; atom < 3 * n; ++atom) {
      const double r = distance(atom, atom - atom % 3);
      if (atom % 3 != 0 && !(r > kShortestBond && r < kLongestBond)) {
        failure = ImageFailure::broken_molecule;
      }
    }
    return failure;
  }

  /// Computes the clusters of a list in lanes and adds them in the order of the list.
  template <int kBodies, class Kernel>
  static void add_clusters(const std::vector<Cluster>& list, int lanes, int threads, BlockMemory& m,
                           const Kernel& kernel) {
    constexpr int kRows = 9 * kBodies + 1;
    const auto count = static_cast<int>(list.size());
    const int packs = (count + lanes - 1) / lanes;
    m.clusters.resize(static_cast<std::size_t>(packs * kRows * lanes));
    const auto cluster = [&](int number) -> const Cluster& {
      return list[static_cast<std::size_t>(number)];
    };
    // The first coordinate of a molecule of a cluster in the block's arrays.
    const auto at = [](AlignedVector<double>& rows, const Cluster& c, int body) {
      return &rows[static_cast<std::size_t>(
          9 * kImages * c.molecules[static_cast<std::size_t>(body)] + c.image)];
    };
    for_each_index(packs, threads, [&](std::int64_t pack) {
      const FlushDenormals flush;
      alignas(64) double in[(kRows - 1) * kMostLanes];
      const int first = static_cast<int>(pack) * lanes;
      for (int lane = 0; lane < lanes; ++lane) {
        const Cluster& c = cluster(std::min(first + lane, count - 1));
        for (int body = 0; body < kBodies; ++body) {
          const double* const x = at(m.x, c, body);
          for (int k = 0; k < 9; ++k) in[(9 * body + k) * lanes + lane] = x[k * kImages];
        }
      }
      kernel(in, &m.clusters[static_cast<std::size_t>(first * kRows)]);
    });
    for (int number = 0; number < count; ++number) {
      const Cluster& c = cluster(number);
      const double* const out =
          &m.clusters[static_cast<std::size_t>(number / lanes * lanes * kRows + number % lanes)];
      for (int body = 0; body < kBodies; ++body) {
        double* const gradient = at(m.gradient, c, body);
        for (int k = 0; k < 9; ++k) gradient[k * kImages] += out[(9 * body + k) * lanes];
      }
      const int term = kBodies == 2 ? kTwoBody : kThreeBody;
      m.terms[static_cast<std::size_t>(term * kImages + c.image)] += out[(kRows - 1) * lanes];
    }
  }

  void write(int molecules, const BlockMemory& m, int image, std::size_t to,
             const ManyBodyResults& results) const {
    const auto at = [&](const AlignedVector<double>& rows, int row) {
      return rows[static_cast<std::size_t>(row * kImages + image)];
    };
    ImageFailure failure = m.failures[static_cast<std::size_t>(image)];
    if (!(at(m.pivot, 0) > 0.0)) failure = ImageFailure::polarisation;
    double energy = 0.0;
    for (int k = 0; k < kTerms; ++k) energy += at(m.terms, k);
    if (!results.energies_kcal_per_mol.empty()) {
      results.energies_kcal_per_mol[to] = failure == ImageFailure::none ? energy : kNoNumber;
    }
    if (!results.failures.empty()) results.failures[to] = failure;
    if (!results.terms_kcal_per_mol.empty()) {
      constexpr std::array<int, 4> kRigid{kCharges, kDispersion, kInduction, kField};
      for (std::size_t k = 0; k < names_.size(); ++k) {
        results.terms_kcal_per_mol[to * names_.size() + k] =
            at(m.terms, is_mbpol_ ? static_cast<int>(k) : kRigid[k]);
      }
    }
    const auto size = static_cast<std::size_t>(9 * molecules);
    for (std::size_t k = 0; k < size && !results.forces_kcal_per_mol_A.empty(); ++k) {
      results.forces_kcal_per_mol_A[to * size + k] = -at(m.gradient, static_cast<int>(k));
    }
    for (std::size_t k = 0; k < 3 && !results.dipoles_eA.empty(); ++k) {
      results.dipoles_eA[3 * to + k] = at(m.dipole, static_cast<int>(k));
    }
  }

  bool is_mbpol_, mixed_;
  int threads_;
  std::array<double, 3> field_;
  const Kernels* kernels_;
  std::vector<std::string> names_;
  std::vector<BlockMemory> memory_;  // [thread]
};

ManyBody::ManyBody(ManyBodyModel model, bool mixed, int threads, std::string_view instruction_set,
                   const std::array<double, 3>& field)
    : work_(std::make_unique<Work>(model, mixed, threads, instruction_set, field)) {}
ManyBody::~ManyBody() = default;
const std::vector<std::string>& ManyBody::terms() const { return work_->names(); }
void ManyBody::compute(int molecules, std::span<const double> positions_A,
                       const ManyBodyResults& results) {
  work_->compute(molecules, positions_A, results);
}

std::array<double, 3> many_body_dipole_e_A(const WaterModel& model,
                                           std::span<const double> positions_A) {
  std::array<double, 3> dipole{};
  ManyBody(model.many_body, false, 1, {}, model.field_kcal_per_mol_e_A)
      .compute(static_cast<int>(positions_A.size() / 9), positions_A, {{}, {}, {}, dipole, {}});
  return dipole;
}

namespace {

class ManyBodyPotential final : public Potential {
 public:
  ManyBodyPotential(ManyBodyModel model, bool mixed, int threads, std::string_view instruction_set,
                    const std::array<double, 3>& field)
      : many_body_(model, mixed, threads, instruction_set, field),
        model_(model),
        mixed_(mixed),
        instruction_set_(instruction_set),
        field_(field),
        name_(std::string(model == ManyBodyModel::mbpol ? "mbpol" : "dang-chang") +
              (mixed ? " mixed" : "")) {}
  void compute(std::span<const double> positions_A, std::span<const std::int64_t> image_ids,
               std::span<double> energies, std::span<double> forces) override {
    const std::size_t images = image_ids.size(), terms = many_body_.terms().size();
    terms_.resize(images * terms);
    dipoles_.resize(3 * images);
    failures_.resize(images);
    bonds_.clear();
    fields_.clear();
    if (images == 0) return;
    many_body_.compute(static_cast<int>(positions_A.size() / images / 9), positions_A,
                       {energies, terms_, forces, dipoles_, failures_});
    for (std::size_t i = 0; i < images; ++i) {
      const double* const own = &terms_[i * terms];
      if (model_ == ManyBodyModel::mbpol) bonds_.push_back(own[kOneBody]);
      if (field_ != std::array<double, 3>{}) fields_.push_back(own[terms - 1]);
    }
  }
  PotentialDetails details() const override { return {bonds_, fields_, dipoles_, failures_}; }
  std::unique_ptr<Potential> for_thread() const override {
    return std::make_unique<ManyBodyPotential>(model_, mixed_, 1, instruction_set_, field_);
  }
  std::string name() const override { return name_; }

 private:
  ManyBody many_body_;
  ManyBodyModel model_;
  bool mixed_;
  std::string instruction_set_;
  std::array<double, 3> field_;
  std::string name_;
  std::vector<double> terms_, bonds_, fields_, dipoles_;
  std::vector<ImageFailure> failures_;
};

}  // namespace

std::shared_ptr<Potential> many_body_potential(ManyBodyModel model, bool mixed, int threads,
                                               std::string_view instruction_set,
                                               const std::array<double, 3>& field) {
  return std::make_shared<ManyBodyPotential>(model, mixed, threads, instruction_set, field);
}

}  // namespace tarn
