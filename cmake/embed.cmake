# fa_embed(OUT SYMBOL [ROOT FOLDER] FILE...)
# writes OUT (a .c file) that defines 'const struct embed SYMBOL[]': name and
# contents of each FILE, ended by a NULL name (common/embed.h); names are
# relative to ROOT, the folder of the CMakeLists by default
function(fa_embed out symbol)
  cmake_parse_arguments(ARG "" "ROOT" "" ${ARGN})
  if(NOT ARG_ROOT)
    set(ARG_ROOT ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  set(files)
  foreach(file IN LISTS ARG_UNPARSED_ARGUMENTS)
    get_filename_component(path ${file} ABSOLUTE)
    list(APPEND files ${path})
  endforeach()
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DSYMBOL=${symbol} "-DFILES=${files}"
            -DROOT=${ARG_ROOT} -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake VERBATIM)
endfunction()
