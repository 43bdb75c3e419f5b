# FA_OLD_GLIBC: a folder with the C library of an older system, as of the Debian
# packages libc6 and libc6-dev.  fa-coord is linked against it, and with the
# archives of all other libraries, so that it runs on that system and newer ones
# (deploy/package.sh --tarball).  fa-worker has no shared libraries anyway.
set(FA_OLD_GLIBC "" CACHE PATH "a folder with an older C library, against which fa-coord is linked")
if(NOT FA_OLD_GLIBC)
  return()
endif()

# fa_archives(LIBRARY NAME...): lib<NAME>.a in the place of a shared library
function(fa_archives library)
  set(files)
  foreach(name IN LISTS ARGN)
    find_library(FA_ARCHIVE_${name} NAMES lib${name}.a REQUIRED)
    mark_as_advanced(FA_ARCHIVE_${name})
    list(APPEND files ${FA_ARCHIVE_${name}})
  endforeach()
  set_property(TARGET PkgConfig::${library} PROPERTY INTERFACE_LINK_LIBRARIES ${files} dl pthread rt m)
endfunction()
fa_archives(ZMQ zmq pgm norm protokit sodium bsd md)
fa_archives(SSH2 ssh2 crypto z)
fa_archives(SQLITE sqlite3)
fa_archives(SODIUM sodium)
fa_archives(CRYPTO crypto)
fa_archives(ZLIB z)
fa_archives(MSGPACK msgpackc)

# Debian has no archive of cJSON, so the tarball has the shared library in it.
find_library(FA_CJSON_FILE NAMES libcjson.so.1 REQUIRED)
mark_as_advanced(FA_CJSON_FILE)

# fa_link_old_glibc(PROGRAM): to be called once the program exists
function(fa_link_old_glibc program)
  set(folders)
  foreach(folder lib usr/lib)
    set(path ${FA_OLD_GLIBC}/${folder}/${CMAKE_LIBRARY_ARCHITECTURE})
    list(APPEND folders -B${path} -L${path})
  endforeach()
  target_sources(${program} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/older_glibc.c ${PROJECT_SOURCE_DIR}/worker/main/nogssapi.c)
  target_link_options(${program} PRIVATE --sysroot=${FA_OLD_GLIBC} ${folders} -static-libgcc -static-libstdc++)
  set_target_properties(${program} PROPERTIES LINKER_LANGUAGE CXX INSTALL_RPATH "$ORIGIN/../lib/fa-coord")
  file(REAL_PATH ${FA_CJSON_FILE} file)
  install(FILES ${file} DESTINATION lib/fa-coord RENAME libcjson.so.1)
  foreach(package libzmq3-dev libpgm-dev libnorm-dev libbsd-dev libmd-dev libssh2-1-dev libssl-dev
          libsqlite3-dev libsodium-dev zlib1g-dev libmsgpack-dev libcjson-dev libstdc++-12-dev)
    install(FILES /usr/share/doc/${package}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences
            RENAME ${package} OPTIONAL)
  endforeach()
endfunction()
