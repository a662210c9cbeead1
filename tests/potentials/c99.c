/* The header alone, as strict C99. */
#include "tarn/potential.h"

typedef int version_is_a_constant[TARN_POTENTIAL_VERSION];

int32_t tarn_potential_version(void) {
  return (int32_t)(sizeof(version_is_a_constant) / sizeof(int));
}
