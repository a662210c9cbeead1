# tarn_module(<module> [USES <module>...] [LIBRARIES <target>...] [DEFINES <macro>...]
#   [PROGRAM <name>])
#
# A module is the folder src/<module> with its public headers. It is built as the static library
# tarn_<module> or as the program <name>. It may include and link only the modules after USES and
# the modules that these use; tests/structure/include_graph.sh checks this. A module without
# sources is header-only.
function(tarn_module module)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PROGRAM" "USES;LIBRARIES;DEFINES")
  set(target tarn_${module})
  list(TRANSFORM arg_USES PREPEND tarn_ OUTPUT_VARIABLE uses)
  tarn_record_module(${module} ${arg_USES})

  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${module}/*.cpp)
  set(visibility PUBLIC)
  if(NOT sources)
    if(arg_PROGRAM)
      return()
    endif()
    set(visibility INTERFACE)
    add_library(${target} INTERFACE)
  elseif(arg_PROGRAM)
    add_executable(${target} ${sources})
    set_property(TARGET ${target} PROPERTY OUTPUT_NAME ${arg_PROGRAM})
  else()
    add_library(${target} STATIC ${sources})
    # The Python module is a shared library that links them.
    set_property(TARGET ${target} PROPERTY POSITION_INDEPENDENT_CODE ON)
  endif()
  target_include_directories(${target} ${visibility}
    ${PROJECT_SOURCE_DIR}/include ${TARN_GENERATED_DIR} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} ${visibility} ${uses} ${arg_LIBRARIES})
  if(sources)
    target_link_libraries(${target} PRIVATE tarn_flags)
    target_compile_definitions(${target} PRIVATE ${arg_DEFINES})
    set_property(GLOBAL APPEND PROPERTY TARN_BUILT_MODULES ${module})
    set_property(GLOBAL APPEND PROPERTY TARN_LIBRARIES ${arg_LIBRARIES})
  endif()
endfunction()

# tarn_record_module(<module> <used module>...): records the modules that a module may include,
# directly and indirectly.
function(tarn_record_module module)
  set(may_include ${ARGN})
  foreach(used IN LISTS ARGN)
    get_property(more GLOBAL PROPERTY TARN_MODULE_${used}_MAY_INCLUDE)
    list(APPEND may_include ${more})
  endforeach()
  list(REMOVE_DUPLICATES may_include)
  set_property(GLOBAL PROPERTY TARN_MODULE_${module}_MAY_INCLUDE "${may_include}")
  set_property(GLOBAL APPEND PROPERTY TARN_MODULES ${module})
endfunction()
