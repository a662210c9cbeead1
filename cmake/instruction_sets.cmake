# kernels_<arch>.cpp of a module is compiled for one instruction set, with the inline namespace
# TARN_ARCH=<arch>; the engine selects one at run time. "portable" uses the compiler's default.
include(CheckCXXCompilerFlag)

set(TARN_ARCHS portable)
set(TARN_ARCH_FLAGS_avx2 -march=x86-64-v3)
set(TARN_ARCH_FLAGS_avx512 -march=x86-64-v4 -mprefer-vector-width=512)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  check_cxx_compiler_flag(-march=x86-64-v3 TARN_COMPILES_AVX2)
  check_cxx_compiler_flag("-march=x86-64-v4 -mprefer-vector-width=512" TARN_COMPILES_AVX512)
  if(TARN_COMPILES_AVX2)
    list(APPEND TARN_ARCHS avx2)
  endif()
  if(TARN_COMPILES_AVX512)
    list(APPEND TARN_ARCHS avx512)
  endif()
endif()

# Only what this machine uses: the conditions are those of src/cpu/kernel_table.cpp.
if(TARN_CPU_TABLES STREQUAL "native")
  include(CheckCXXSourceRuns)
  check_cxx_source_runs([[
    int main() {
      return !(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd"));
    }]] TARN_RUNS_AVX512)
  check_cxx_source_runs([[
    int main() { return !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")); }
    ]] TARN_RUNS_AVX2)
  if(TARN_RUNS_AVX512 AND avx512 IN_LIST TARN_ARCHS)
    set(TARN_ARCHS avx512)
  elseif(TARN_RUNS_AVX2 AND avx2 IN_LIST TARN_ARCHS)
    set(TARN_ARCHS avx2)
  else()
    set(TARN_ARCHS portable)
  endif()
endif()

# tarn_use_instruction_sets(<target>): sets the flags of its kernels_<arch>.cpp, removes those that
# are not in TARN_ARCHS, and defines TARN_HAVE_PORTABLE, TARN_HAVE_AVX2 and TARN_HAVE_AVX512 for
# kernel_table.cpp alone: with another TARN_CPU_TABLES the other files need not be compiled again.
function(tarn_use_instruction_sets target)
  get_target_property(sources ${target} SOURCES)
  if(NOT sources)
    return()
  endif()
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "/kernels_([a-z0-9]+)\\.cpp$")
      continue()
    endif()
    set(arch ${CMAKE_MATCH_1})
    if(NOT arch IN_LIST TARN_ARCHS)
      list(REMOVE_ITEM sources ${source})
      continue()
    endif()
    # Optimised in debug builds too: a standard library function that is not inlined becomes a symbol
    # that the linker may use in the whole program, on any processor.
    set(flags ${TARN_ARCH_FLAGS_${arch}} ${TARN_PACK_FLAGS} $<$<NOT:$<CONFIG:Release>>:-O2>)
    if(NOT arch STREQUAL "portable" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Scheduling before register allocation hides more of the latency of roots. Functions start at
      # cache lines: otherwise a step took up to a tenth longer, depending on the addresses (Zen 5).
      # -Wno-*: false alarms in GCC's intrinsics (GCC bug 105593); the portable file keeps the
      # warnings.
      list(APPEND flags -fschedule-insns -fsched-pressure -falign-functions=64
           -Wno-uninitialized -Wno-maybe-uninitialized)
    endif()
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${flags})
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS TARN_ARCH=${arch})
    string(TOUPPER TARN_HAVE_${arch} macro)
    cmake_path(GET source PARENT_PATH folder)
    set_property(SOURCE ${folder}/kernel_table.cpp
      APPEND PROPERTY COMPILE_DEFINITIONS ${macro})
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${sources})
endfunction()
