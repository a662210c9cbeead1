/* Flexible water for tarn: springs between the atoms of a molecule, and Lennard-Jones terms between
   oxygens. `options` is the stiffness of the O-H springs in kcal/mol/A^2, such as "1000". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tarn/potential.h>

typedef struct { /* everything that compute needs: there may be several handles at once */
  int64_t molecules;
  double stiffness;
} Water;

int32_t tarn_potential_version(void) { return TARN_POTENTIAL_VERSION; }

void* tarn_potential_open(const char* options, int64_t molecules, char* error, size_t error_size) {
  const Water water = {molecules, atof(options)};
  Water* const handle = water.stiffness > 0.0 ? malloc(sizeof(Water)) : NULL;
  if (handle == NULL) {
    snprintf(error, error_size, "options = \"%s\" is not a positive stiffness", options);
    return NULL;
  }
  *handle = water;
  return handle;
}

/* A spring between atoms a and b or, without stiffness, the Lennard-Jones term. */
static double pair(double stiffness, double length, const double* a, const double* b, double* fa,
                   double* fb) {
  const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], r = sqrt(r2);
  const double epsilon = 2.0, s6 = pow(length * length / r2, 3.0);
  const double slope =
      stiffness > 0.0 ? stiffness * (r - length) : -24.0 * epsilon * (2.0 * s6 * s6 - s6) / r;
  for (int c = 0; c < 3; ++c) {
    fa[c] -= slope * d[c] / r;
    fb[c] += slope * d[c] / r;
  }
  return stiffness > 0.0 ? 0.5 * slope * (r - length) : 4.0 * epsilon * (s6 * s6 - s6);
}

int32_t tarn_potential_compute(void* handle, int64_t images, const int64_t* ids,
                               const double* positions_A, double* energies_kcal_per_mol,
                               double* forces_kcal_per_mol_A, char* error, size_t error_size) {
  const Water* const water = handle;
  const int64_t n = water->molecules;
  const double k = water->stiffness;
  (void)ids, (void)error,
      (void)error_size; /* a failure: a text in error, and a status other than 0 */
  for (int64_t image = 0; image < images; ++image) {
    const double* const x = positions_A + 9 * n * image;
    double* const f = forces_kcal_per_mol_A + 9 * n * image;
    double energy = 0.0;
    for (int64_t i = 0; i < 9 * n; ++i) f[i] = 0.0; /* NaN before the call */
    for (int64_t m = 0; m < 9 * n; m += 9) {        /* O, H1, H2 at m, m + 3, m + 6 */
      energy += pair(k, 0.9572, x + m, x + m + 3, f + m, f + m + 3);
      energy += pair(k, 0.9572, x + m, x + m + 6, f + m, f + m + 6);
      energy += pair(0.2 * k, 1.5139, x + m + 3, x + m + 6, f + m + 3, f + m + 6);
      for (int64_t j = 0; j < m; j += 9) energy += pair(0.0, 2.6, x + m, x + j, f + m, f + j);
    }
    energies_kcal_per_mol[image] = energy;
  }
  return 0;
}

void tarn_potential_close(void* handle) { free(handle); }
