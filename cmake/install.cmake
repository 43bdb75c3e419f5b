# cmake --install: fa-coord, the worker that it uploads, kernels and documents.
# fa-coord looks for fa-worker beside itself, then in ../libexec/fa-coord.
install(TARGETS fa-coord RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(PROGRAMS $<TARGET_FILE:fa-worker> DESTINATION libexec/fa-coord)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/kernels/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fa-coord/kernels
        FILES_MATCHING REGEX "([.](cu|c|h|json|md|py)|/Makefile)$" PATTERN build EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
