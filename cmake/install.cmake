# tarn::tarn is one library with all modules. cmake --install installs the program, the decks, the
# documentation and the completion of bash (component program), and the library with its headers for
# find_package(tarn) (component library).
include(GNUInstallDirs)

get_property(modules GLOBAL PROPERTY TARN_BUILT_MODULES)
get_property(libraries GLOBAL PROPERTY TARN_LIBRARIES)
list(REMOVE_ITEM modules cli papers)
list(REMOVE_ITEM libraries CLI11::CLI11 Eigen3::Eigen)
list(REMOVE_DUPLICATES libraries)
list(TRANSFORM modules REPLACE "(.+)" "$<TARGET_OBJECTS:tarn_\\1>" OUTPUT_VARIABLE objects)

add_library(tarn STATIC ${objects})
add_library(tarn::tarn ALIAS tarn)
set_property(TARGET tarn PROPERTY LINKER_LANGUAGE CXX)
target_link_libraries(tarn PRIVATE ${libraries})
target_compile_features(tarn PUBLIC cxx_std_20)
# The headers contain formulas, which must give the same bits in every program (compile.cmake).
target_compile_options(tarn INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
target_include_directories(tarn PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${TARN_GENERATED_DIR}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

if(NOT TARN_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tarn)
# Two components. The program and what it uses needs the target tarn_cli alone:
if(TARGET tarn_cli)
  install(TARGETS tarn_cli COMPONENT program)
  install(FILES src/cli/completion.bash RENAME tarn
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
endif()
# The program finds them relative to its own path (cmake/version.cmake).
set(TARN_INSTALL_INPUTS ${CMAKE_INSTALL_DATADIR}/tarn/inputs)
install(DIRECTORY inputs/ DESTINATION ${TARN_INSTALL_INPUTS} COMPONENT program
  PATTERN papers EXCLUDE)
install(FILES README.md CHANGELOG.md LICENSE data/many_body/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
# Without the measured results (10 MB) and the programs that make them.
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program
  PATTERN results EXCLUDE PATTERN pages EXCLUDE PATTERN notebooks EXCLUDE)

# The library, for find_package(tarn).
install(TARGETS tarn EXPORT tarn COMPONENT library)
install(DIRECTORY include/tarn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(EXPORT tarn NAMESPACE tarn:: FILE tarnTargets.cmake DESTINATION ${package_dir}
  COMPONENT library)
configure_package_config_file(cmake/tarnConfig.cmake.in ${TARN_GENERATED_DIR}/tarnConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS TARN_INSTALL_INPUTS)
write_basic_package_version_file(${TARN_GENERATED_DIR}/tarnConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${TARN_GENERATED_DIR}/tarn/version.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tarn COMPONENT library)
install(FILES ${TARN_GENERATED_DIR}/tarnConfig.cmake ${TARN_GENERATED_DIR}/tarnConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT library)
