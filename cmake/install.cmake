# cmake --install: fa-coord, the worker that it uploads, kernels and documents.
# fa-coord looks for fa-worker beside itself, then in ../libexec/fa-coord.
install(TARGETS fa-coord RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(PROGRAMS $<TARGET_FILE:fa-worker> DESTINATION libexec/fa-coord)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/kernels/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fa-coord/kernels
        FILES_MATCHING REGEX "([.](cu|c|h|json|md|py)|/Makefile)$" PATTERN build EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The manual pages and completions are printed by the program that is installed.
install(CODE "
  function(fa_printed file)
    get_filename_component(folder \${file} DIRECTORY)
    file(MAKE_DIRECTORY \${folder})
    execute_process(COMMAND \"$<TARGET_FILE:fa-coord>\" \${ARGN}
      OUTPUT_FILE \${file} COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS \"Installing: \${file}\")
  endfunction()
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  execute_process(COMMAND \"$<TARGET_FILE:fa-coord>\" help --man
    OUTPUT_VARIABLE page COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL \"fa[\\\\]-coord[\\\\]-[a-z]+ \\\\(1\\\\)\" names \"\${page}\")
  fa_printed(\${prefix}/${CMAKE_INSTALL_MANDIR}/man1/fa-coord.1 help --man)
  foreach(name IN LISTS names)
    string(REGEX REPLACE \"fa[\\\\]-coord[\\\\]-([a-z]+) .*\" \"\\\\1\" name \"\${name}\")
    fa_printed(\${prefix}/${CMAKE_INSTALL_MANDIR}/man1/fa-coord-\${name}.1 help \${name} --man)
  endforeach()
  fa_printed(\${prefix}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions/fa-coord completion bash)
  fa_printed(\${prefix}/${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_fa-coord completion zsh)
  fa_printed(\${prefix}/${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/fa-coord.fish completion fish)
")
