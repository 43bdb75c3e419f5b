# Sets FA_WORKER_STATIC_LIBRARIES and FA_WORKER_STATIC_LINK if fa-worker can be
# linked without any shared library, and otherwise says why not.  With gcc's
# ASan, libc alone is shared: end-to-end tests start thousands of workers, and
# loading shared libraries would take half of a start.  zmq, sodium and msgpack are needed; the
# other libraries are those that this platform's libzmq.a was built with.
function(fa_find_static_worker)
  if(NOT FA_STATIC_WORKER)
    return()
  endif()
  if(NOT FA_SANITIZE)
    set(link -static)
  elseif(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND FA_SANITIZE STREQUAL "address,undefined")
    set(link -fsanitize=${FA_SANITIZE} -static-libasan -static-libubsan -static-libstdc++ -static-libgcc)
  else()
    message(STATUS "fa-worker: linked dynamically, as these sanitizers need")
    return()
  endif()
  set(libraries)
  foreach(name zmq pgm norm protokit sodium bsd)
    find_library(FA_STATIC_${name} NAMES lib${name}.a)
    mark_as_advanced(FA_STATIC_${name})
    if(FA_STATIC_${name})
      list(APPEND libraries ${FA_STATIC_${name}})
    endif()
  endforeach()
  find_library(FA_STATIC_msgpack NAMES libmsgpackc.a libmsgpack-c.a)
  mark_as_advanced(FA_STATIC_msgpack)
  foreach(name zmq sodium msgpack)
    if(NOT FA_STATIC_${name})
      message(STATUS "fa-worker: linked dynamically, because there is no static lib${name}; it runs only on hosts that have the same shared libraries")
      return()
    endif()
  endforeach()
  list(APPEND libraries ${FA_STATIC_msgpack})

  set(probe ${PROJECT_BINARY_DIR}/static_worker/probe.cc)
  file(CONFIGURE OUTPUT ${probe} CONTENT "extern \"C\" { void *zmq_ctx_new(void); int sodium_init(void); }\nint main() { return sodium_init() < 0 || !zmq_ctx_new(); }\n")
  try_compile(FA_STATIC_WORKER_LINKS ${PROJECT_BINARY_DIR}/static_worker
    SOURCES ${probe} ${PROJECT_SOURCE_DIR}/worker/main/nogssapi.c
    LINK_OPTIONS ${link}
    LINK_LIBRARIES ${libraries} Threads::Threads
    OUTPUT_VARIABLE said)
  if(FA_STATIC_WORKER_LINKS)
    set(FA_WORKER_STATIC_LIBRARIES ${libraries} PARENT_SCOPE)
    set(FA_WORKER_STATIC_LINK ${link} PARENT_SCOPE)
  else()
    message(STATUS "fa-worker: linked dynamically, because the static libraries do not link; it runs only on hosts that have the same shared libraries:\n${said}")
  endif()
endfunction()
