find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZMQ REQUIRED IMPORTED_TARGET libzmq)
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
