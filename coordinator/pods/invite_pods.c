#include "coordinator/pods/invite_pods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/text/json_out.h"

#define FOLDER "/invitations"
#define SECRET_MODE 0400

static void open_resource(struct json_out *out, const char *version,
                          const char *kind, const char *name)
{
    json_out_open(out, NULL, '{');
    json_out_text(out, "apiVersion", version);
    json_out_text(out, "kind", kind);
    json_out_open(out, "metadata", '{');
    json_out_text(out, "name", name);
    json_out_close(out);
}

static void secret(struct json_out *out, const struct invite_pods *pods)
{
    open_resource(out, "v1", "Secret", pods->name);
    json_out_text(out, "type", "Opaque");
    json_out_open(out, "stringData", '{');
    for (size_t i = 0; i < pods->n; i++) {
        char index[24];

        snprintf(index, sizeof(index), "%zu", i);
        json_out_text(out, index, pods->texts[i]);
    }
    json_out_close(out);
    json_out_close(out);
}

static void container(struct json_out *out, const struct invite_pods *pods)
{
    char gpus[24];

    snprintf(gpus, sizeof(gpus), "%lld", (long long)pods->gpus);
    json_out_open(out, NULL, '{');
    json_out_text(out, "name", "fa-worker");
    json_out_text(out, "image", pods->image);
    json_out_open(out, "command", '[');
    json_out_text(out, NULL, "sh");
    json_out_text(out, NULL, "-c");
    json_out_text(out, NULL,
                  "exec fa-worker --workdir /tmp/fa-coord --invitation " FOLDER
                  "/$JOB_COMPLETION_INDEX");
    json_out_close(out);
    json_out_open(out, "volumeMounts", '[');
    json_out_open(out, NULL, '{');
    json_out_text(out, "name", "invitations");
    json_out_text(out, "mountPath", FOLDER);
    json_out_bool(out, "readOnly", true);
    json_out_close(out);
    json_out_close(out);
    if (pods->gpus > 0) {
        json_out_open(out, "resources", '{');
        json_out_open(out, "limits", '{');
        json_out_text(out, "nvidia.com/gpu", gpus);
        json_out_close(out);
        json_out_close(out);
    }
    json_out_close(out);
}

static void pod(struct json_out *out, const struct invite_pods *pods)
{
    json_out_open(out, "template", '{');
    json_out_open(out, "spec", '{');
    json_out_text(out, "restartPolicy", "OnFailure");
    json_out_open(out, "containers", '[');
    container(out, pods);
    json_out_close(out);
    json_out_open(out, "volumes", '[');
    json_out_open(out, NULL, '{');
    json_out_text(out, "name", "invitations");
    json_out_open(out, "secret", '{');
    json_out_text(out, "secretName", pods->name);
    json_out_int(out, "defaultMode", SECRET_MODE);
    json_out_close(out);
    json_out_close(out);
    json_out_close(out);
    json_out_close(out);
    json_out_close(out);
}

static void job(struct json_out *out, const struct invite_pods *pods)
{
    open_resource(out, "batch/v1", "Job", pods->name);
    json_out_open(out, "spec", '{');
    json_out_text(out, "completionMode", "Indexed");
    json_out_int(out, "completions", (int64_t)pods->n);
    json_out_int(out, "parallelism", (int64_t)pods->n);
    pod(out, pods);
    json_out_close(out);
    json_out_close(out);
}

char *invite_pods_text(const struct invite_pods *pods)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    struct json_out out;

    if (!file)
        return NULL;
    json_out_init(&out, file);
    json_out_open(&out, NULL, '{');
    json_out_text(&out, "apiVersion", "v1");
    json_out_text(&out, "kind", "List");
    json_out_open(&out, "items", '[');
    secret(&out, pods);
    job(&out, pods);
    json_out_close(&out);
    json_out_close(&out);
    if (fclose(file) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
