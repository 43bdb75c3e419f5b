# fa_library(NAME SOURCE... [LINK LIBRARY...])   a static library fa_NAME
function(fa_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(fa_${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(fa_${name} PUBLIC fa_flags ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY fa_libraries fa_${name})
endfunction()

# fa_program(NAME SOURCE... [LINK LIBRARY...])
function(fa_program name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE fa_flags ${ARG_LINK})
endfunction()

# fa_skip_leak_check(PROGRAM): no_leak_check.c says why
function(fa_skip_leak_check program)
  if(FA_SANITIZE MATCHES "address")
    target_sources(${program} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/no_leak_check.c)
  endif()
endfunction()

# For every test, as is fa_test_path (libraries.cmake); the file says what TSan
# does not report, and why.
set(fa_test_environment "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp")

# Sets OUT to objects of these files.  Each is compiled for the first target that
# needs it, and the others, which need the same of it, share the object.
function(fa_shared_objects out)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  set(objects)
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(path ${source} ABSOLUTE)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${path})
    string(MAKE_C_IDENTIFIER objects_${path} target)
    if(NOT TARGET ${target})
      add_library(${target} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/${path})
      target_link_libraries(${target} PRIVATE fa_flags ${ARG_LINK})
      target_compile_definitions(${target} PRIVATE FA_SOURCE_DIR="${PROJECT_SOURCE_DIR}" FA_BINARY_DIR="${PROJECT_BINARY_DIR}")
    endif()
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()

set(FA_UNIT_TESTS "" CACHE STRING "folders whose unit tests are built, as coordinator/store; empty: all")
option(FA_COMPILING_TESTS "build what the tests labelled compiles need" ON)

# fa_test(FOLDER STEM [TIMEOUT S] [COST S] [LABELS L...] [SOURCES F...] [LINK LIBRARY...])
# builds tests/FOLDER/test_STEM.c and registers it as FOLDER.STEM, with a dot for
# each slash of FOLDER
function(fa_test folder stem)
  cmake_parse_arguments(ARG "" "TIMEOUT;COST" "LABELS;SOURCES;LINK" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  # those labelled plain run in this build only
  if(FA_UNIT_TESTS AND "unit" IN_LIST ARG_LABELS AND NOT "plain" IN_LIST ARG_LABELS AND NOT folder IN_LIST FA_UNIT_TESTS)
    set(left_out EXCLUDE_FROM_ALL)
    set(ARG_LABELS left_out)
  endif()
  if("compiles" IN_LIST ARG_LABELS AND NOT FA_COMPILING_TESTS)
    set(left_out EXCLUDE_FROM_ALL)
  endif()
  string(REPLACE "/" "_" target test_${folder}_${stem})
  string(REPLACE "/" "." name ${folder}.${stem})
  fa_shared_objects(objects SOURCES ${ARG_SOURCES} LINK ${ARG_LINK} PkgConfig::CMOCKA)
  add_executable(${target} ${left_out} ${PROJECT_SOURCE_DIR}/tests/${folder}/test_${stem}.c ${objects})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if("sanitized" IN_LIST ARG_LABELS)
    set_property(GLOBAL APPEND PROPERTY fa_sanitized ${target})
  endif()
  target_link_libraries(${target} PRIVATE fa_flags ${ARG_LINK} PkgConfig::CMOCKA)
  target_compile_definitions(${target} PRIVATE FA_SOURCE_DIR="${PROJECT_SOURCE_DIR}" FA_BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(ARG_COST)
    set_tests_properties(${name} PROPERTIES COST ${ARG_COST})
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}"
    ENVIRONMENT "${fa_test_environment}" ENVIRONMENT_MODIFICATION "${fa_test_path}")
endfunction()
