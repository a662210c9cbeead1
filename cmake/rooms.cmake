# tarn_room(<room> [USES <room>...] [LIBRARIES <target>...] [DEFINES <macro>...] [PROGRAM <name>])
#
# A room is the folder src/<room> with its public headers. It is built as the static library
# tarn_<room> or as the program <name>. It may include and link only the rooms after USES and the
# rooms that these use; tests/structure/include_graph.sh checks this. A room without sources is
# header-only.
function(tarn_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PROGRAM" "USES;LIBRARIES;DEFINES")
  set(target tarn_${room})
  list(TRANSFORM arg_USES PREPEND tarn_ OUTPUT_VARIABLE uses)
  tarn_note_room(${room} ${arg_USES})

  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cpp)
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
  endif()
  target_include_directories(${target} ${visibility}
    ${PROJECT_SOURCE_DIR}/include ${TARN_GENERATED_DIR} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} ${visibility} ${uses} ${arg_LIBRARIES})
  if(sources)
    target_link_libraries(${target} PRIVATE tarn_flags)
    target_compile_definitions(${target} PRIVATE ${arg_DEFINES})
    set_property(GLOBAL APPEND PROPERTY TARN_BUILT_ROOMS ${room})
    set_property(GLOBAL APPEND PROPERTY TARN_LIBRARIES ${arg_LIBRARIES})
  endif()
endfunction()

# tarn_note_room(<room> <used room>...): records the rooms that a room may include, directly and
# indirectly.
function(tarn_note_room room)
  set(sees ${ARGN})
  foreach(used IN LISTS ARGN)
    get_property(more GLOBAL PROPERTY TARN_ROOM_${used}_SEES)
    list(APPEND sees ${more})
  endforeach()
  list(REMOVE_DUPLICATES sees)
  set_property(GLOBAL PROPERTY TARN_ROOM_${room}_SEES "${sees}")
  set_property(GLOBAL APPEND PROPERTY TARN_ROOMS ${room})
endfunction()
