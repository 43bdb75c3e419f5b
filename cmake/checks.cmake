file(GLOB_RECURSE fa_formatted LIST_DIRECTORIES false
  ${PROJECT_SOURCE_DIR}/common/*.[ch] ${PROJECT_SOURCE_DIR}/coordinator/*.[ch]
  ${PROJECT_SOURCE_DIR}/worker/*.[ch] ${PROJECT_SOURCE_DIR}/tests/common/*.[ch]
  ${PROJECT_SOURCE_DIR}/tests/coordinator/*.[ch] ${PROJECT_SOURCE_DIR}/tests/worker/*.[ch]
  ${PROJECT_SOURCE_DIR}/tests/e2e/*.[ch] ${PROJECT_SOURCE_DIR}/tests/fault/*.[ch] ${PROJECT_SOURCE_DIR}/tests/fuzz/*.[ch]
  ${PROJECT_SOURCE_DIR}/tests/bench/*.[ch])
add_custom_target(format COMMAND clang-format -i ${fa_formatted} VERBATIM)
add_custom_target(lint COMMAND ${PROJECT_SOURCE_DIR}/deploy/lint.sh ${PROJECT_BINARY_DIR}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)
