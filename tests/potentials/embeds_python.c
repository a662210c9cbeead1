/* A library that embeds Python (POTENTIAL), Python (PYTHON), and an extension module of it, which
   finds the functions of Python only among the symbols that all libraries can use. */
#if defined(PYTHON)
int Py_IsInitialized(void) { return 1; }
#elif defined(EXTENSION)
int Py_IsInitialized(void);
int use_python(void) { return Py_IsInitialized(); }
#else
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tarn/potential.h"

int Py_IsInitialized(void);

int32_t tarn_potential_version(void) { return TARN_POTENTIAL_VERSION; }

void* tarn_potential_open(const char* options, int64_t molecules, char* error, size_t error_size) {
  void* const extension = dlopen(EXTENSION_FILE, RTLD_NOW);
  (void)options;
  (void)molecules;
  if (extension == NULL) snprintf(error, error_size, "%s", dlerror());
  return Py_IsInitialized() ? extension : NULL;
}

int32_t tarn_potential_compute(void* handle, int64_t images, const int64_t* ids,
                               const double* positions_A, double* energies_kcal_per_mol,
                               double* forces_kcal_per_mol_A, char* error, size_t error_size) {
  (void)handle, (void)ids, (void)positions_A, (void)error, (void)error_size;
  memset(energies_kcal_per_mol, 0, (size_t)images * sizeof(double));
  memset(forces_kcal_per_mol_A, 0, (size_t)images * 9 * sizeof(double));
  return 0;
}

void tarn_potential_close(void* handle) { (void)handle; }
#endif
