#include "water_keys.hpp"
#include "water_rules.hpp"

namespace tarn::decks {
namespace {

std::vector<Rule> water_rules() {
  std::vector<Rule> all = model_rules();
  for (const std::vector<Rule>& rules :
       {start_rules(), scheme_rules(), run_rules(), observe_rules()}) {
    all.insert(all.end(), rules.begin(), rules.end());
  }
  return all;
}

}  // namespace

const Schema& water_schema() {
  static const Schema schema = make_schema({system_section(),        model_section(),
                                            integrator_section(),    thermostat_section(),
                                            path_integral_section(), exchange_section(),
                                            confinement_section(),   run_section(),
                                            energies_section(),      path_integral_table_section(),
                                            conservation_section(),  heat_section(),
                                            temperatures_section(),  geometry_section(),
                                            cluster_section(),       multipliers_section(),
                                            rdf_section(),           profile_section(),
                                            spectrum_section(),      correlation_section(),
                                            evaporation_section(),   minima_section(),
                                            trajectory_section(),    final_section(),
                                            checkpoint_section()},
                                           water_rules());
  return schema;
}

}  // namespace tarn::decks
