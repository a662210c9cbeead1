#include "water_keys.hpp"

namespace tarn::decks {

const Schema& water_schema() {
  static const Schema schema = make_schema(
      joined<SectionTable>({{system_section(), model_section(), integrator_section(),
                             thermostat_section(), path_integral_section(), exchange_section(),
                             confinement_section(), potential_section(), run_section()},
                            table_sections(),
                            curve_sections(),
                            structure_sections(),
                            {checkpoint_section()}}),
      joined<Rule>({model_rules(), start_rules(), scheme_rules(), run_rules()}));
  return schema;
}

}  // namespace tarn::decks
