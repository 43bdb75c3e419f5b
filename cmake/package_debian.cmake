# Run by cpack on the staged files of the .deb: changelogs, copyright, gzip and
# places as Debian's policy has them, and one date for all.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(doc ${root}/share/doc/${CPACK_PACKAGE_NAME})

function(fa_run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Debian's zsh looks in vendor-completions only.
file(MAKE_DIRECTORY ${root}/share/zsh/vendor-completions)
file(RENAME ${root}/share/zsh/site-functions/_fa-coord ${root}/share/zsh/vendor-completions/_fa-coord)
file(REMOVE_RECURSE ${root}/share/zsh/site-functions)

string(REPLACE "-" "" day ${CPACK_FA_DATE})
execute_process(COMMAND date -u -R -d ${day} OUTPUT_VARIABLE date
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${doc}/changelog.Debian
"${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}; changelog.gz says what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)

file(READ ${doc}/LICENSE license)
string(REGEX REPLACE "^.*(Permission is hereby)" "\\1" license "${license}")
string(REGEX REPLACE "\n\n" "\n.\n" license "${license}")
string(REGEX REPLACE "\n([^\n])" "\n \\1" license "${license}")
file(WRITE ${doc}/copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: ${CPACK_PACKAGE_NAME}

Files: *
Copyright: 2026 the fa-coord authors
License: Expat

License: Expat
 ${license}")
file(REMOVE ${doc}/LICENSE)
if(EXISTS ${doc}/LICENSE.d3)
  file(READ ${doc}/LICENSE.d3 d3)
  file(APPEND ${doc}/copyright "\nComment: usr/bin/fa-coord has D3 in it, whose copyright file is d3.copyright.\n")
  file(RENAME ${doc}/LICENSE.d3 ${doc}/d3.copyright)
endif()

file(MAKE_DIRECTORY ${root}/share/lintian/overrides)
file(WRITE ${root}/share/lintian/overrides/${CPACK_PACKAGE_NAME}
"# fa-coord uploads it to hosts whose libraries are not known
${CPACK_PACKAGE_NAME}: statically-linked-binary [usr/libexec/fa-coord/fa-worker]
# it is not for Debian's archive
${CPACK_PACKAGE_NAME}: initial-upload-closes-no-bugs [usr/share/doc/fa-coord/changelog.Debian.gz:1]
")

file(GLOB pages ${root}/share/man/man1/*.1)
fa_run(gzip -9n ${pages} ${doc}/changelog ${doc}/changelog.Debian)

fa_run(chmod -R u=rwX,go=rX ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  fa_run(find ${CPACK_TEMPORARY_INSTALL_DIRECTORY} -exec touch -h -d @$ENV{SOURCE_DATE_EPOCH} {} +)
endif()
