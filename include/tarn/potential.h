#pragma once

#include <stddef.h>
#include <stdint.h>

/** @file
 * The four functions of a shared library that computes energies and forces for tarn. Valid C99 and
 * C++; the header needs no other file of tarn. Deck:
 *
 *     [potential]
 *     kind = "library"
 *     path = "./libmine.so"
 *     options = "text"
 *
 * tarn calls tarn_potential_version(), tarn_potential_open() once per engine (a run has one; with
 * MPI, each rank has its own), tarn_potential_compute() once per step for all images, and
 * tarn_potential_close(). An image is a replica, or one bead of a ring polymer.
 *
 * Functions are called by one thread at a time, not always by the same one. Different handles may
 * be used at the same time. The library stays loaded until the program ends. Functions must return:
 * exit() and crashes end the whole program, and the run can be resumed from its last checkpoint.
 */

/** Version of this header. A library returns the one that it was compiled with. */
#define TARN_POTENTIAL_VERSION 1

#if defined(__GNUC__)
#define TARN_POTENTIAL_EXPORT __attribute__((visibility("default")))
#else
#define TARN_POTENTIAL_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @return TARN_POTENTIAL_VERSION */
TARN_POTENTIAL_EXPORT int32_t tarn_potential_version(void);

/** Prepares computations of one number of molecules.
 * @param options `options` of the deck, or ""
 * @param molecules number of water molecules in each image
 * @param error receives the reason of a failure, ending with a zero
 * @param error_size bytes in `error`, including the zero; at least 256
 * @return a handle for the other functions, or NULL: the run then ends with the text in `error` */
TARN_POTENTIAL_EXPORT void* tarn_potential_open(const char* options, int64_t molecules, char* error,
                                                size_t error_size);

/** Computes energies and forces.
 * @param handle of tarn_potential_open()
 * @param images number of images, at least 1; it may differ from call to call
 * @param ids [image] replica * beads + bead: the same for an image in all calls, so that an
 *        iterative method can start from its last result. [observe.minima] counts from
 *        replicas * beads on; minimisations, normal modes and checks count their images from 0
 * @param positions_A [image][molecule][O, H1, H2][x, y, z] in angstrom, not periodic
 * @param energies_kcal_per_mol [image] out: energy of the whole cluster. NaN before the call
 * @param forces_kcal_per_mol_A [image][molecule][O, H1, H2][x, y, z] out: minus the gradient. NaN
 *        before the call: tarn stops a replica with an energy or force that is not finite
 * @param error, error_size as in tarn_potential_open()
 * @return 0, or a status of your choice: the run then ends with the text in `error` and a
 *         checkpoint of the last complete step */
TARN_POTENTIAL_EXPORT int32_t tarn_potential_compute(void* handle, int64_t images,
                                                     const int64_t* ids, const double* positions_A,
                                                     double* energies_kcal_per_mol,
                                                     double* forces_kcal_per_mol_A, char* error,
                                                     size_t error_size);

/** Frees a handle. */
TARN_POTENTIAL_EXPORT void tarn_potential_close(void* handle);

#ifdef __cplusplus
}
#endif
