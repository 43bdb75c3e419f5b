# cmake --install: fa-coord, the worker that it uploads, kernels and documents
# (docs/install.md).  fa-coord looks for fa-worker beside itself, then in
# ../libexec/fa-coord, so the installed folder can be moved.
install(TARGETS fa-coord RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS fa-worker RUNTIME DESTINATION libexec/fa-coord)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/kernels/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fa-coord/kernels
        FILES_MATCHING REGEX "([.](cu|c|h|json|md|py)|/Makefile)$"
        PATTERN build EXCLUDE PATTERN __pycache__ EXCLUDE)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/deploy/regression.sh DESTINATION ${CMAKE_INSTALL_DATADIR}/fa-coord)
# Measured results are data of this project, ten times as large as all else.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs
        PATTERN results EXCLUDE PATTERN __pycache__ EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(FA_D3 AND FA_D3_COPYRIGHT) # it is in the program (coordinator/page)
  install(FILES ${FA_D3_COPYRIGHT} DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.d3)
endif()

# The manual pages and completions are printed by the program that is installed.
install(CODE "
  set(FA_PROGRAM \"$<TARGET_FILE:fa-coord>\")
  set(FA_MAN \"${CMAKE_INSTALL_MANDIR}/man1\")
  set(FA_DATA \"${CMAKE_INSTALL_DATADIR}\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/install_printed.cmake\")
")
