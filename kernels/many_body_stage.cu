#include <algorithm>

#include "kernels/many_body.hpp"

namespace tarn::gpu {
namespace {

/// Lists one after another, and where each begins.
template <class T>
struct Joined {
  std::vector<int> begins{0};
  std::vector<T> all;

  explicit Joined(const std::vector<std::vector<T>>& lists) {
    for (const std::vector<T>& list : lists) {
      all.insert(all.end(), list.begin(), list.end());
      begins.push_back(static_cast<int>(all.size()));
    }
  }
};

}  // namespace

ManyBodyStage::ManyBodyStage(const System& system, std::int64_t images, int device)
    : model_(system.model.many_body), mixed_(system.precision == Precision::mixed) {
  const int n = system.molecules;
  const auto count = static_cast<std::size_t>(images);
  failures_ = DeviceBuffer<int>(count, 0);
  work_.outside = outside_forces(system);
  std::copy_n(system.model.field_kcal_per_mol_e_A.begin(), 3, work_.field);
  work_.masses = masses(system.model);
  work_.numbers = arrays_.make<double>(count * kImageNumbers);
  const bool is_mbpol = model_ == ManyBodyModel::mbpol;
  if (is_mbpol) {
    work_.energy_rows = upload_rows(many_body::monomer_surface());
    work_.charge_rows = upload_rows(many_body::charge_surface());
    dimers_ = upload_table(many_body::two_body_table(), many_body::two_body_table().view());
    const many_body::PolynomialTable& table = many_body::three_body_table();
    if (mixed_) {
      rounded_trimers_ = upload_table(table, table.rounded_view());
    } else {
      trimers_ = upload_table(table, table.view());
    }
    lists_.dimers = make_list(2, n, images);
    lists_.trimers = make_list(3, n, images);
  }
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    cuda_check(cudaDeviceGetAttribute(&value, which, device));
    return value;
  };
  const std::size_t matrix = dipole_matrix_size((is_mbpol ? 9 : 3) * n);
  const auto shared = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  if (image_bytes(n) + matrix * sizeof(double) <= shared) {
    work_.blocks = static_cast<int>(images);
  } else {
    // Blocks that share memory for a matrix take several images: a few per multiprocessor.
    work_.blocks = static_cast<int>(
        std::min<std::int64_t>(images, 4 * attribute(cudaDevAttrMultiProcessorCount)));
    work_.matrices = arrays_.make<double>(static_cast<std::size_t>(work_.blocks) * matrix);
  }
}

many_body::SurfaceRows ManyBodyStage::upload_rows(const many_body::Surface& surface) {
  many_body::SurfaceRows rows = surface.rows();
  rows.runs = arrays_.upload(surface.runs);
  rows.coefficients = arrays_.upload(surface.coefficients);
  return rows;
}

template <class Z>
DevicePolynomial<Z> ManyBodyStage::upload_table(const many_body::PolynomialTable& table,
                                                const many_body::PolynomialView<Z>& view) {
  const std::size_t variables = table.variables.size(), first_product = 1 + variables;
  std::vector<std::vector<ColumnTile>> tiles(first_product + table.products.size());
  std::vector<std::vector<ProductUse>> uses(variables);
  int tile = 0;
  for (std::size_t g = 0; g < table.groups.size(); ++g) {
    for (; tile < table.groups[g].end; ++tile) {
      tiles[table.columns[static_cast<std::size_t>(tile)]].push_back({tile, static_cast<int>(g)});
    }
  }
  for (std::size_t k = 0; k < table.products.size(); ++k) {
    const auto [a, b] = table.products[k];
    const auto number = static_cast<int>(first_product + k);
    uses[static_cast<std::size_t>(a - 1)].push_back({number, b});
    uses[static_cast<std::size_t>(b - 1)].push_back({number, a});
  }
  const Joined<ColumnTile> by_column(tiles);
  const Joined<ProductUse> by_variable(uses);
  DevicePolynomial<Z> t{};
  t.view = view;
  t.view.orbits = arrays_.upload(table.orbits);
  t.view.variables = arrays_.upload(table.variables);
  t.view.products = arrays_.upload(table.products);
  t.view.groups = arrays_.upload(table.groups);
  t.view.columns = arrays_.upload(table.columns);
  t.view.coefficients = arrays_.upload(
      std::vector<Z>(view.coefficients, view.coefficients + table.coefficients.size()));
  t.column_begins = arrays_.upload(by_column.begins);
  t.column_tiles = arrays_.upload(by_column.all);
  t.use_begins = arrays_.upload(by_variable.begins);
  t.uses = arrays_.upload(by_variable.all);
  return t;
}

ClusterList ManyBodyStage::make_list(int bodies, int molecules, std::int64_t images) {
  ClusterList list{};
  list.capacity = molecules * (molecules - 1) / 2;
  if (bodies == 3) list.capacity = list.capacity * (molecules - 2) / 3;
  list.stride = list.capacity * images;
  const auto stride = static_cast<std::size_t>(list.stride),
             rows = static_cast<std::size_t>(images);
  list.entries = arrays_.make<ListEntry>(stride);
  list.results = arrays_.make<double>(static_cast<std::size_t>(9 * bodies + 1) * stride);
  list.counts = arrays_.make<int>(rows);
  list.begins = arrays_.make<int>(rows + 1);
  return list;
}

void ManyBodyStage::launch(const DeviceState& d, double* forces, int* failures, long long* step,
                           cudaStream_t stream) const {
  if (model_ == ManyBodyModel::mbpol) {
    launch_cluster_lists(d, lists_, stream);
    launch_polynomials<2>(d, lists_.dimers, dimers_, stream);
    mixed_ ? launch_polynomials<3>(d, lists_.trimers, rounded_trimers_, stream)
           : launch_polynomials<3>(d, lists_.trimers, trimers_, stream);
  }
  launch_images(d, lists_, work_, model_, forces, failures, step, stream);
}

}  // namespace tarn::gpu
