# tarn_flags: how every file of the project is compiled.

# The same bits on every path: no contraction but the explicit fma, no value-changing shortcuts.
# errno and floating-point traps are not used by anything here.
set(TARN_ARITHMETIC_FLAGS -ffp-contract=off -fno-math-errno -fno-trapping-math)
# -Wno-psabi: GCC's note on how vector types are passed, which concerns no interface of ours.
set(warnings -Wall -Wextra -Wshadow -Wno-psabi)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND warnings -Wno-restrict)  # false alarms on std::string (GCC bug 105651)
endif()

add_library(tarn_flags INTERFACE)
target_compile_features(tarn_flags INTERFACE cxx_std_20)
target_compile_options(tarn_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${TARN_ARITHMETIC_FLAGS};${warnings};-Wpedantic>"
  # By its flag, because CMake 3.25 does not know that nvcc has C++20.
  "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--fmad=false>"
  # CUDA's own generated host code is not pedantic.
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=$<JOIN:${TARN_ARITHMETIC_FLAGS};${warnings},$<COMMA>>>")
if(TARN_WERROR)
  target_compile_options(tarn_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>")
endif()

# For files that inline the whole of a formula, in packs or in dual numbers: these are values in
# registers, and watching their scopes would take the compiler minutes a file.
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
