#include "water_tables.hpp"

#include <algorithm>
#include <string_view>

#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {

void write_water_table(const CompareResult& result, const std::string& provenance) {
  const std::string path = result.out_dir + "/compare.csv";
  io::CsvFormat csv(path, {"scheme",
                           "cluster_steps_per_s",
                           "ns_per_day",
                           "pair_share",
                           "bond_share",
                           "noise_share",
                           "rest_share",
                           "iterations_per_step",
                           "temperature_K",
                           "temperature_K_err",
                           "temperature_translation_K",
                           "temperature_rotation_K",
                           "temperature_bond_K",
                           "potential_kcal_per_mol",
                           "potential_kcal_per_mol_err",
                           "autocorrelation_ps",
                           "independent_samples_per_s",
                           "constraint_max_A2",
                           "oo_total_variation",
                           "oo_kolmogorov_smirnov",
                           "oo_mean_distance_A",
                           "stopped_replicas",
                           "timestep_fs",
                           "us_per_ps",
                           "potential_difference_kcal_per_mol",
                           "potential_difference_kcal_per_mol_err",
                           "oo_total_variation_err",
                           "oo_total_variation_noise",
                           "departed_replicas",
                           "energy_drift_kcal_per_mol_per_ps",
                           "energy_drift_kcal_per_mol_per_ps_err",
                           "energy_rms_kcal_per_mol",
                           "energy_rms_kcal_per_mol_err",
                           "energy_max_kcal_per_mol",
                           "momentum_max_Da_A_per_ps",
                           "angular_momentum_max_Da_A2_per_ps",
                           "us_per_ps_err"});
  std::string meanings = kShareMeanings;
  std::ranges::replace(meanings, '\n', ' ');
  std::string text = csv.head(provenance + "; " + meanings);
  for (const SchemeResult& s : result.schemes) {
    csv.cell(std::string_view(s.label));
    for (const double number : {s.steps_per_second,
                                s.ns_per_day,
                                s.pair_share,
                                s.bond_share,
                                s.noise_share,
                                s.rest_share,
                                s.iterations_per_step,
                                s.temperature_K.mean,
                                s.temperature_K.error,
                                s.translation_K.mean,
                                s.rotation_K.mean,
                                s.bond_K.mean,
                                s.potential_kcal_per_mol.mean,
                                s.potential_kcal_per_mol.error,
                                s.autocorrelation_ps,
                                s.independent_samples_per_second,
                                s.constraint_max_A2,
                                s.oo_total_variation,
                                s.oo_kolmogorov_smirnov,
                                s.oo_mean_distance_A}) {
      csv.cell_or_nan(number);
    }
    csv.cell(static_cast<std::int64_t>(s.blow_ups.size())).cell(s.timestep_fs);
    for (const double number : {s.us_per_ps, s.potential_difference_kcal_per_mol.mean,
                                s.potential_difference_kcal_per_mol.error, s.oo_total_variation_err,
                                s.oo_total_variation_noise}) {
      csv.cell_or_nan(number);
    }
    csv.cell(s.departed_replicas);
    for (const double number :
         {s.energy_drift_kcal_per_mol_per_ps.mean, s.energy_drift_kcal_per_mol_per_ps.error,
          s.energy_rms_kcal_per_mol.mean, s.energy_rms_kcal_per_mol.error,
          s.energy_max_kcal_per_mol, s.momentum_max_Da_A_per_ps,
          s.angular_momentum_max_Da_A2_per_ps, s.us_per_ps_err}) {
      csv.cell_or_nan(number);
    }
    text += csv.row();
  }
  io::write_file(path, text);
}

void write_energy_orders(const CompareResult& result, const std::string& provenance) {
  const std::string path = result.out_dir + "/orders.csv";
  io::CsvFormat csv(path, {"scheme", "quantity", "order", "spread", "points",
                           "smallest_timestep_fs", "largest_timestep_fs"});
  std::string text =
      csv.head(provenance + "; convergence order of the rms change of the total energy");
  for (const SchemeOrder& o : result.orders) {
    csv.cell(std::string_view(o.label)).cell(std::string_view(o.quantity));
    csv.cell_or_nan(o.fit.order).cell_or_nan(o.fit.spread);
    csv.cell(static_cast<std::int64_t>(o.fit.points));
    csv.cell_or_nan(o.fit.smallest_step).cell_or_nan(o.fit.largest_step);
    text += csv.row();
  }
  io::write_file(path, text);
}

}  // namespace tarn
