/* The example of the documentation, in a shell that checks what tarn/potential.h promises in each
   call. `options`: "stiffness replicas*beads"; images from that number on belong to no engine. At
   the end it prints the numbers of calls and of images. */
#define tarn_potential_version water_version
#define tarn_potential_open water_open
#define tarn_potential_compute water_compute
#define tarn_potential_close water_close
#include "flexible_water.c"
#undef tarn_potential_version
#undef tarn_potential_open
#undef tarn_potential_compute
#undef tarn_potential_close

#include <string.h>

int32_t tarn_potential_version(void);
void* tarn_potential_open(const char*, int64_t, char*, size_t);
int32_t tarn_potential_compute(void*, int64_t, const int64_t*, const double*, double*, double*,
                               char*, size_t);
void tarn_potential_close(void*);

typedef struct {
  void* water;
  int64_t size, engine_images, calls, images;
  double* last; /* positions of the images of the engine; the first is NaN before they are known */
  int busy;
} Recorder;

int32_t tarn_potential_version(void) { return TARN_POTENTIAL_VERSION; }

void* tarn_potential_open(const char* options, int64_t molecules, char* error, size_t error_size) {
  const char* const second = strchr(options, ' ');
  Recorder* const r = calloc(1, sizeof(Recorder));
  if (r == NULL || second == NULL || error_size < 256) return NULL;
  r->water = water_open(options, molecules, error, error_size);
  r->size = 9 * molecules;
  r->engine_images = atoi(second);
  r->last = malloc((size_t)(r->engine_images * r->size + 1) * sizeof(double));
  if (r->last == NULL) return NULL;
  for (int64_t i = 0; i < r->engine_images * r->size; ++i) r->last[i] = NAN;
  return r;
}

/* @return what is wrong with an image of a call, or NULL */
static const char* broken_promise(Recorder* r, int64_t image, const int64_t* ids, const double* x,
                                  double energy, const double* forces) {
  const int64_t id = ids[image];
  if (id < 0) return "a negative id";
  for (int64_t other = 0; other < image; ++other) {
    if (ids[other] == id) return "an id twice in a call";
  }
  if (!isnan(energy)) return "an energy that is not NaN before the call";
  for (int64_t i = 0; i < r->size; ++i) {
    if (!isnan(forces[i])) return "a force that is not NaN before the call";
    if (!isfinite(x[i])) return "a position that is not finite";
  }
  if (id >= r->engine_images) return NULL;
  for (int64_t i = 0; i < r->size; ++i) {
    if (fabs(x[i] - r->last[id * r->size + i]) > 1.0) return "an image that jumped";
  }
  memcpy(r->last + id * r->size, x, (size_t)r->size * sizeof(double));
  return NULL;
}

int32_t tarn_potential_compute(void* handle, int64_t images, const int64_t* ids,
                               const double* positions_A, double* energies_kcal_per_mol,
                               double* forces_kcal_per_mol_A, char* error, size_t error_size) {
  Recorder* const r = handle;
  const char* problem = images < 1 || error_size < 256 ? "no image, or too little room" : NULL;
  int32_t status;
  if (__sync_lock_test_and_set(&r->busy, 1)) problem = "two threads at a time";
  for (int64_t image = 0; image < images && problem == NULL; ++image) {
    problem = broken_promise(r, image, ids, positions_A + image * r->size,
                             energies_kcal_per_mol[image], forces_kcal_per_mol_A + image * r->size);
  }
  ++r->calls;
  r->images += images;
  if (problem != NULL) snprintf(error, error_size, "call %d: %s", (int)r->calls, problem);
  status = problem != NULL
               ? 1
               : water_compute(r->water, images, ids, positions_A, energies_kcal_per_mol,
                               forces_kcal_per_mol_A, error, error_size);
  __sync_lock_release(&r->busy);
  return status;
}

void tarn_potential_close(void* handle) {
  Recorder* const r = handle;
  fprintf(stderr, "recorded: %d calls, %d images\n", (int)r->calls, (int)r->images);
  water_close(r->water);
  free(r->last);
  free(r);
}
