add_library(fa_flags INTERFACE)
target_include_directories(fa_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
target_compile_definitions(fa_flags INTERFACE _GNU_SOURCE FA_VERSION="${PROJECT_VERSION}")
target_compile_options(fa_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wvla -Wundef
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
  $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>
  $<$<NOT:$<BOOL:${FA_JOIN}>>:-Wshadow> # a local name may be that of a function in a joined file
  $<$<BOOL:${FA_WERROR}>:-Werror>)
if(FA_SANITIZE)
  # builds in half the time of -O2 -g; reports still name the lines
  set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g1")
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
  if(FA_SANITIZE STREQUAL "thread") # its few tests wait more than they compute
    set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O0 -g1")
  endif()
  target_compile_options(fa_flags INTERFACE -fsanitize=${FA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(fa_flags INTERFACE -fsanitize=${FA_SANITIZE})
  if(FA_SANITIZE MATCHES "address" AND NOT FA_FUZZ)
    # At each start of a program, 200,000 pointers of UBSan would be relocated,
    # which takes a quarter of the time of a short command.
    target_compile_options(fa_flags INTERFACE -fno-pie)
    target_link_options(fa_flags INTERFACE -no-pie)
  endif()
elseif(CMAKE_BUILD_TYPE MATCHES "^Rel")
  target_compile_options(fa_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release") # the same bytes from any folder
  target_compile_options(fa_flags INTERFACE -ffile-prefix-map=${PROJECT_BINARY_DIR}=. -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
endif()
if(FA_FUZZ)
  target_compile_options(fa_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
