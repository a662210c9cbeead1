#include "kernels/launch_kernel.hpp"
#include "kernels/measured.cuh"

namespace tarn::gpu {
namespace {

__device__ void put_nine(const Triple<double>& t, double* out) {
  const double c[9] = {t.o.x, t.o.y, t.o.z, t.h1.x, t.h1.y, t.h1.z, t.h2.x, t.h2.y, t.h2.z};
  for (int k = 0; k < 9; ++k) out[k] = c[k];
}

/// A thread per molecule.
__global__ void __launch_bounds__(kMeasureThreads)
    molecule_fields_kernel(DeviceState d, MeasureNumbers n, MoleculeFields out) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread >= d.replicas * d.molecules) return;
  const std::int64_t slot =
      device_slot(d, thread / d.molecules, static_cast<int>(thread % d.molecules));
  MeasuredMolecule<double> m = load_measured(d, n, slot);
  if (n.rigid) m.v = project_velocities(m.x, m.v, n.step.masses);
  if (out.positions != nullptr) put_nine(m.q, out.positions + 9 * thread);
  if (out.own_positions != nullptr) put_nine(m.x, out.own_positions + 9 * thread);
  if (out.velocities != nullptr) put_nine(m.v, out.velocities + 9 * thread);
  if (out.multipliers == nullptr) return;
  Triple<double> f{};
  if (n.multipliers_need_forces) f = load_triple(d.f, d.slots, slot);
  const BondValues<double> lambda = bond_multipliers(n, n.step.masses, m, f);
  double* const to = out.multipliers + 3 * thread;
  to[0] = lambda.oh1;
  to[1] = lambda.oh2;
  to[2] = lambda.hh;
}

}  // namespace

void launch_molecule_fields(const DeviceState& d, const MeasureNumbers& n,
                            const MoleculeFields& out, cudaStream_t stream) {
  launch_kernel(molecule_fields_kernel, measure_blocks_of(d.replicas * d.molecules),
                kMeasureThreads, 0, stream, d, n, out);
}

}  // namespace tarn::gpu
