#include "kernels/launch_kernel.hpp"
#include "kernels/many_body.hpp"
#include "kernels/measured.cuh"
#include "kernels/partner_loop.cuh"

namespace tarn::gpu {
namespace {

constexpr int kThreads = 128;

/// A warp per image, a lane per oxygen. A mask has one bit per molecule.
__global__ void __launch_bounds__(kThreads) lists_kernel(DeviceState d, ClusterLists lists) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes, n = d.molecules;
  const std::int64_t image = thread_number() / kWarpLanes;
  if (image >= d.replicas) return;
  const unsigned before_lane = (1u << lane) - 1u;
  int dimers = 0, trimers = 0;
  const auto put = [&](const ClusterList& list, unsigned mask, ListEntry entry, int& count) {
    if (mask >> lane & 1u) {
      list.entries[image * list.capacity + count + __popc(mask & before_lane)] = entry;
    }
    count += __popc(mask);
  };
  // Stopped replicas have empty lists.
  const int last = d.stopped[image] == 0 ? n : 0;
  const Vec3<double> o =
      load_vector<double>(d.x, d.slots, device_slot(d, image, lane < n ? lane : 0));
  unsigned own_near = 0, own_far = 0;  // molecules within kTrimerLimit, and not too close
  for (int i = 0; i < last; ++i) {
    const Vec3<double> r =
        o - Vec3<double>{__shfl_sync(kAllLanes, o.x, i), __shfl_sync(kAllLanes, o.y, i),
                         __shfl_sync(kAllLanes, o.z, i)};
    const double square = norm2(r);
    const auto within = [&](double limit) {
      return __ballot_sync(kAllLanes, lane < n && lane != i && square < limit * limit);
    };
    const unsigned close = within(many_body::kShortestOo);
    const unsigned near = within(many_body::kTrimerLimit),
                   in_dimers = within(many_body::kDimerLimit);
    if (lane == i) {
      own_near = near;
      own_far = ~close;
    }
    const unsigned after = ~((2u << i) - 1u);
    put(lists.dimers, in_dimers & ~close & after,
        static_cast<ListEntry>(i) | static_cast<ListEntry>(lane) << 8, dimers);
  }
  for (int i = 0; i < last; ++i) {
    const unsigned near_i = __shfl_sync(kAllLanes, own_near, i);
    const unsigned far_i = __shfl_sync(kAllLanes, own_far, i);
    for (int j = i + 1; j < last; ++j) {
      const unsigned near_j = __shfl_sync(kAllLanes, own_near, j);
      const unsigned far_j = __shfl_sync(kAllLanes, own_far, j);
      // Two of the three distances are short.
      const unsigned two = near_i >> j & 1u ? near_i | near_j : near_i & near_j;
      const unsigned third = far_i >> j & 1u ? two & far_i & far_j & ~((2u << j) - 1u) : 0u;
      put(lists.trimers, third,
          static_cast<ListEntry>(i) | static_cast<ListEntry>(j) << 8 |
              static_cast<ListEntry>(lane) << 16,
          trimers);
    }
  }
  if (lane == 0) {
    lists.dimers.counts[image] = dimers;
    lists.trimers.counts[image] = trimers;
  }
}

constexpr int kPrefixThreads = 256;

/// One block: the first numbers of the images' entries.
__global__ void __launch_bounds__(kPrefixThreads)
    begins_kernel(std::int64_t images, ClusterLists lists) {
  TARN_SHARED(sums, int[kPrefixThreads]);
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t share = (images + kPrefixThreads - 1) / kPrefixThreads;
  const std::int64_t first = thread * share < images ? thread * share : images;
  const std::int64_t end = first + share < images ? first + share : images;
  for (const ClusterList& list : {lists.dimers, lists.trimers}) {
    int sum = 0;
    for (std::int64_t image = first; image < end; ++image) sum += list.counts[image];
    sums[thread] = sum;
    __syncthreads();
    int begin = 0;
    for (int k = 0; k < thread; ++k) begin += sums[k];
    for (std::int64_t image = first; image < end; ++image) {
      list.begins[image] = begin;
      begin += list.counts[image];
    }
    if (thread == kPrefixThreads - 1) list.begins[images] = begin;
    __syncthreads();
  }
}

}  // namespace

void launch_cluster_lists(const DeviceState& d, const ClusterLists& lists, cudaStream_t stream) {
  launch_threads(lists_kernel, d.replicas * kWarpLanes, kThreads, stream, d, lists);
  launch_kernel(begins_kernel, 1, kPrefixThreads, 0, stream, d.replicas, lists);
}

}  // namespace tarn::gpu
