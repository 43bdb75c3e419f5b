/* template_files.h - the files of kernels/templates, as NAME/FILE */
#ifndef FA_COORDINATOR_TEMPLATES_TEMPLATE_FILES_H
#define FA_COORDINATOR_TEMPLATES_TEMPLATE_FILES_H

#include "common/embed.h"

extern const struct embed template_files[];

#endif
