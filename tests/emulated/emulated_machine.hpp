#pragma once

#include <cuda_runtime.h>

/// @file
/// The emulated machine, for tests outside of this folder.
