# tarn_flags: compile options of all files of the project.

# For bitwise reproducibility: no contraction except explicit fma, no value-changing optimisations.
# The project uses neither errno nor floating-point traps.
set(TARN_ARITHMETIC_FLAGS -ffp-contract=off -fno-math-errno -fno-trapping-math)
# -Wno-psabi: GCC's note about passing vector types; no interface of tarn does.
set(warnings -Wall -Wextra -Wshadow -Wno-psabi)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND warnings -Wno-restrict)  # false alarms on std::string (GCC bug 105651)
endif()

add_library(tarn_flags INTERFACE)
target_compile_features(tarn_flags INTERFACE cxx_std_20)
# -fno-semantic-interposition: position-independent code is inlined as other code is.
target_compile_options(tarn_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${TARN_ARITHMETIC_FLAGS};-fno-semantic-interposition;${warnings};-Wpedantic>"
  # As a flag, because CMake 3.25 has no C++20 feature for nvcc. Kernels call the constexpr functions
  # of headers that they share with the CPU.
  "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--fmad=false;--expt-relaxed-constexpr>"
  # CUDA's own generated host code is not pedantic.
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=$<JOIN:${TARN_ARITHMETIC_FLAGS};${warnings},$<COMMA>>>")
if(TARN_WERROR)
  target_compile_options(tarn_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>")
endif()

# For files that inline whole formulas with packs or dual numbers. These are values in registers;
# tracking their scopes would take the compiler minutes per file.
set(TARN_PACK_FLAGS "")
if(TARN_SANITIZE MATCHES "address")
  set(TARN_PACK_FLAGS -fno-sanitize-address-use-after-scope)
endif()

if(TARN_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TARN_SANITIZE}>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${TARN_SANITIZE})
endif()
