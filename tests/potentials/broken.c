/* Libraries that fail, one for each BROKEN_... that tests/potentials/CMakeLists.txt defines. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tarn/potential.h"

#ifdef BROKEN_SLOW
__attribute__((constructor)) static void wait(void) { sleep(3); }
#endif
#ifdef BROKEN_LINK
void a_function_that_nothing_defines(void);
__attribute__((constructor)) static void call(void) { a_function_that_nothing_defines(); }
#endif

#ifdef BROKEN_VERSION
int32_t tarn_potential_version(void) { return TARN_POTENTIAL_VERSION + 41; }
#else
int32_t tarn_potential_version(void) { return TARN_POTENTIAL_VERSION; }
#endif

/* options: "refuse", "refuse silently", what compute does ("status", "long", "escape",
   "wrong", "sleep", "chdir", "nan", "batch"). */
void* tarn_potential_open(const char* options, int64_t molecules, char* error, size_t error_size) {
  char* copy;
  (void)molecules;
  if (strcmp(options, "refuse silently") == 0) return NULL;
  if (strcmp(options, "refuse") == 0) {
    snprintf(error, error_size, "no parameters for %d molecules.\n", (int)molecules);
    return NULL;
  }
  copy = malloc(strlen(options) + 1);
  return copy == NULL ? NULL : strcpy(copy, options);
}

#ifndef BROKEN_SYMBOL
int32_t tarn_potential_compute(void* handle, int64_t images, const int64_t* ids,
                               const double* positions_A, double* energies_kcal_per_mol,
                               double* forces_kcal_per_mol_A, char* error, size_t error_size) {
  const char* const options = handle;
  int64_t image;
  (void)ids;
  (void)positions_A;
  (void)forces_kcal_per_mol_A;
  if (strcmp(options, "chdir") == 0) {
    if (chdir("/") != 0) return 1;
    memset(forces_kcal_per_mol_A, 0, (size_t)(images * 5 * 9) * sizeof(double));
  }
  if (strcmp(options, "wrong") == 0) { /* forces without energies, of five molecules */
    for (image = 0; image < images * 5 * 9; ++image) forces_kcal_per_mol_A[image] = 1.0;
    memset(energies_kcal_per_mol, 0, (size_t)images * sizeof(double));
    return 0;
  }
  if (strcmp(options, "sleep") == 0) { /* 20 ms for a call and 5 ms for an image */
    const int64_t ms = 20 + 5 * images;
    const struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
    memset(forces_kcal_per_mol_A, 0, (size_t)(images * 5 * 9) * sizeof(double));
  }
  if (strcmp(options, "escape") == 0) {
    snprintf(error, error_size, "\033[31mno \302\233 1mmemory\007 %0600d", 7);
    return 12;
  }
  if (strcmp(options, "status") == 0) {
    snprintf(error, error_size, "SCF of image %d did not converge", (int)(images - 1));
    return 12;
  }
  if (strcmp(options, "long") == 0) {
    memset(error, 'x', error_size); /* without a zero at the end */
    return -1;
  }
  for (image = 0; image < images; ++image) energies_kcal_per_mol[image] = (double)images;
  return 0;
}
#endif

void tarn_potential_close(void* handle) { free(handle); }
