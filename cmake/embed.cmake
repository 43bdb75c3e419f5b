# fa_embed(OUT SYMBOL FILE...)
# writes OUT (a .c file) that defines 'const struct embed SYMBOL[]': name and
# contents of each FILE, ended by a NULL name (common/embed.h)
function(fa_embed out symbol)
  set(files)
  foreach(file IN LISTS ARGN)
    get_filename_component(path ${file} ABSOLUTE)
    list(APPEND files ${path})
  endforeach()
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DSYMBOL=${symbol} "-DFILES=${files}"
            -DROOT=${CMAKE_CURRENT_SOURCE_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake VERBATIM)
endfunction()
