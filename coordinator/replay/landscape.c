#include "coordinator/replay/landscape.h"

#include <stdlib.h>

#include "coordinator/model/domain.h"

void landscape_free(struct landscape *landscape)
{
    if (!landscape)
        return;
    for (int t = 0; t < landscape->tunables_n; t++) {
        struct landscape_tunable *tunable = &landscape->tunables[t];

        for (int i = 0; i < tunable->n; i++)
            free(tunable->texts[i]);
        free(tunable->texts);
        free(tunable->numbers);
        free(tunable->name);
    }
    free(landscape->tunables);
    for (int i = 0; landscape->domain && i < domain_size(landscape->domain);
         i++)
        free(landscape->configs[i].reason);
    domain_free(landscape->domain);
    free(landscape->configs);
    free(landscape->samples);
    free(landscape->device);
    free(landscape->facts);
    free(landscape->kernel);
    free(landscape->problem);
    free(landscape);
}
