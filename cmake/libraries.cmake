find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZMQ REQUIRED IMPORTED_TARGET libzmq)
# Debian's file also has flags of the libraries that libzmq uses.  CMake puts
# them into another order when it configures again, which would build everything
# again.
set_target_properties(PkgConfig::ZMQ PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${ZMQ_INCLUDEDIR}" INTERFACE_COMPILE_OPTIONS "")
pkg_check_modules(SSH2 REQUIRED IMPORTED_TARGET libssh2)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(CJSON REQUIRED IMPORTED_TARGET libcjson)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_search_module(MSGPACK REQUIRED IMPORTED_TARGET msgpack-c msgpack)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

# GPU hosts use nvcc and cudart at run time; this machine, only for tests.
find_program(FA_NVCC_PROGRAM nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)

# The interpreter itself: one that a shim finds (pyenv's is a script) would be
# looked for again by each test.  Tests that look for it find the same one.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable)"
    OUTPUT_VARIABLE python OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT python STREQUAL Python3_EXECUTABLE)
    set_target_properties(Python3::Interpreter PROPERTIES IMPORTED_LOCATION ${python})
    get_filename_component(python ${python} DIRECTORY)
    set(fa_test_path "PATH=path_list_prepend:${python}")
  endif()
endif()
