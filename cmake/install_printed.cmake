# Run by cmake --install: what FA_PROGRAM prints, as files below the prefix.
# FA_MAN and FA_DATA are folders in it.
function(fa_printed file) # fa_printed(FILE ARGUMENT...)
  set(to "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${file}")
  message(STATUS "Installing: ${to}")
  get_filename_component(folder ${to} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND ${FA_PROGRAM} ${ARGN} OUTPUT_FILE ${to} COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD ${to} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  # so that install_manifest.txt names it
  set(CMAKE_INSTALL_MANIFEST_FILES ${CMAKE_INSTALL_MANIFEST_FILES} "${CMAKE_INSTALL_PREFIX}/${file}" PARENT_SCOPE)
endfunction()

execute_process(COMMAND ${FA_PROGRAM} help --man OUTPUT_VARIABLE page COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "fa[\\]-coord[\\]-[a-z]+ \\(1\\)" names "${page}")
fa_printed(${FA_MAN}/fa-coord.1 help --man)
foreach(name IN LISTS names)
  string(REGEX REPLACE "fa[\\]-coord[\\]-([a-z]+) .*" "\\1" name "${name}")
  fa_printed(${FA_MAN}/fa-coord-${name}.1 help ${name} --man)
endforeach()
fa_printed(${FA_DATA}/bash-completion/completions/fa-coord completion bash)
fa_printed(${FA_DATA}/zsh/site-functions/_fa-coord completion zsh)
fa_printed(${FA_DATA}/fish/vendor_completions.d/fa-coord.fish completion fish)
