/* Libraries that fail, one for each BROKEN_... that tests/potentials/CMakeLists.txt defines. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tarn/potential.h"

#ifdef BROKEN_SEGFAULT
__attribute__((constructor)) static void crash(void) {
  fprintf(stderr, "my tables are missing\n");
  raise(SIGSEGV);
}
#endif
#ifdef BROKEN_EXIT
__attribute__((constructor)) static void leave(void) { exit(7); }
#endif
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

/* A large array on the stack, of which the far end is written first. */
static double overflow(volatile size_t size) {
  volatile char array[size];
  array[0] = 1;
  array[size - 1] = 1;
  return array[size / 2];
}

/* Ends the program, or only a thread or a child. */
static void* leave_now(void* how) {
  if (strcmp(how, "exit") == 0) exit(0);
  if (strcmp(how, "_exit") == 0) _exit(0);
  if (strcmp(how, "thread") == 0) exit(0);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "crash") == 0) raise(SIGSEGV);
  if (strcmp(how, "stack") == 0) overflow((size_t)512 << 20);
  if (strcmp(how, "chdir") == 0 && chdir("/") != 0) abort();
  if (strcmp(how, "child") == 0 && fork() == 0) _exit(1);
  return NULL;
}
static void leave_by(const char* how) {
  pthread_t thread;
  char copy[32];
  strcpy(copy, how);
  if (strcmp(how, "thread") != 0) {
    leave_now(copy);
  } else if (pthread_create(&thread, NULL, leave_now, copy) == 0) {
    pthread_join(thread, NULL);
  }
}

/* options: "refuse", "refuse silently", what compute does ("status", "long", "escape",
   "wrong", "sleep", "nan", "batch"), or open, compute or close and how they end the program:
   "compute exit". */
void* tarn_potential_open(const char* options, int64_t molecules, char* error, size_t error_size) {
  char* copy;
  (void)molecules;
  if (strcmp(options, "refuse silently") == 0) return NULL;
  if (strcmp(options, "refuse") == 0) {
    snprintf(error, error_size, "no parameters for %d molecules.\n", (int)molecules);
    return NULL;
  }
  if (strncmp(options, "open ", 5) == 0) leave_by(options + 5);
  copy = malloc(strlen(options) + 1);
  return copy == NULL ? NULL : strcpy(copy, options);
}

#ifndef BROKEN_SYMBOL
int32_t tarn_potential_compute(void* handle, int64_t images, const int64_t* ids,
                               const double* positions_A, double* energies_kcal_per_mol,
                               double* forces_kcal_per_mol_A, char* error, size_t error_size) {
  const char* const options = handle;
  int64_t image;
  static int calls = 0;
  (void)ids;
  (void)positions_A;
  (void)forces_kcal_per_mol_A;
  if (strncmp(options, "compute ", 8) == 0) leave_by(options + 8);
  if (strncmp(options, "later ", 6) == 0 && ++calls > 3) leave_by(options + 6);
  if (strncmp(options, "later ", 6) == 0 || strncmp(options, "compute ", 8) == 0) {
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

void tarn_potential_close(void* handle) {
  const char* const options = handle;
  if (strncmp(options, "close ", 6) == 0) leave_by(options + 6);
  free(handle);
}
