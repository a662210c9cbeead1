# tarn_room(<room> [USES <room>...] [LIBRARIES <target>...])
#
# A room is the folder src/<room> with its public headers; it becomes the static library
# tarn_<room>. It may include and link the rooms after USES, and what those use, and nothing else:
# tests/structure holds includes and links to that. A room without sources is only its headers.
function(tarn_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;LIBRARIES")
  list(TRANSFORM arg_USES PREPEND tarn_ OUTPUT_VARIABLE uses)

  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cpp)
  if(sources)
    add_library(tarn_${room} STATIC ${sources})
    target_link_libraries(tarn_${room} PUBLIC ${uses} ${arg_LIBRARIES} PRIVATE tarn_flags)
    target_include_directories(tarn_${room} PUBLIC ${PROJECT_SOURCE_DIR}/include
      ${TARN_GENERATED_DIR} ${PROJECT_SOURCE_DIR}/src)
  else()
    add_library(tarn_${room} INTERFACE)
    target_link_libraries(tarn_${room} INTERFACE ${uses} ${arg_LIBRARIES})
    target_include_directories(tarn_${room} INTERFACE ${PROJECT_SOURCE_DIR}/include
      ${TARN_GENERATED_DIR} ${PROJECT_SOURCE_DIR}/src)
  endif()

  tarn_register_room(${room} USES ${arg_USES})
endfunction()

# Notes the room and everything that it may see, for tarn::tarn and for the include check.
function(tarn_register_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES")
  set(sees ${arg_USES})
  foreach(used IN LISTS arg_USES)
    get_property(more GLOBAL PROPERTY TARN_ROOM_${used})
    list(APPEND sees ${more})
  endforeach()
  list(REMOVE_DUPLICATES sees)
  set_property(GLOBAL PROPERTY TARN_ROOM_${room} "${sees}")
  set_property(GLOBAL APPEND PROPERTY TARN_ROOMS ${room})
endfunction()
