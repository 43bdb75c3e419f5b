#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/invite.h"
#include "common/mem.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/pods/invite_pods.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/link/dial_hosts.h"
#include "coordinator/dial/dial_keys.h"
#include "coordinator/link/listen.h"
#include "coordinator/spec/spec.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/terminal.h"

#define PODS_FILE "kubernetes.json"

struct invitations {
    char *db, *folder;
    struct hosts hosts;
    struct listen listen;
    struct dial_keys *keys;
    struct invite_pods pods; /* image: NULL without --kubernetes */
};

/* The database of a sweep, which need not be there yet. */
static int name_db(const char *given, const char *sweep, char **out,
                   struct err *err)
{
    struct spec *spec = NULL;
    int rc = 0;

    if (given) {
        *out = mem_strdup(given);
        return 0;
    }
    rc = spec_load(sweep, &spec, err);
    if (rc == 0)
        *out = mem_printf("%s/%s.db", spec->file.folder, spec->name);
    spec_free(spec);
    return rc;
}

/* The port that the coordinator will listen at. */
static int settle_port(struct invitations *all, struct err *err)
{
    int port = all->listen.port ? all->listen.port : dial_keys_port(all->keys);
    int rc = 0;

    if (port == 0)
        rc = listen_free_port(&all->listen, &port, err);
    dial_keys_set_port(all->keys, port);
    return rc;
}

static int write_one(struct invitations *all, const char *host, struct err *err)
{
    char text[INVITE_BYTES_MAX];
    struct invite invite;
    int rc = dial_hosts_invitation(all->keys, &all->listen, host, &invite, err);

    if (rc < 0)
        return rc;
    invite_write(&invite, text);
    rc = dial_keys_write(all->folder, host, text, err);
    if (rc == 0 && all->pods.image)
        all->pods.texts[all->pods.n++] = mem_strdup(text);
    sodium_memzero(text, sizeof(text));
    invite_wipe(&invite);
    return rc;
}

/* The same invitations as one file for kubectl. */
static int write_pods(const struct invitations *all, struct err *err)
{
    struct invite_pods pods = all->pods;
    char hash[HASH_HEX], name[32], *text;
    const char *key = dial_keys_server(all->keys)->public_key;
    int rc;

    hash_of(key, strlen(key), hash);
    snprintf(name, sizeof(name), "fa-%.12s", hash);
    pods.name = name;
    text = invite_pods_text(&pods);
    if (!text)
        mem_exhausted();
    rc = dial_keys_write(all->folder, PODS_FILE, text, err);
    sodium_memzero(text, strlen(text));
    free(text);
    return rc;
}

static void free_pods(struct invitations *all)
{
    for (size_t i = 0; i < all->pods.n; i++) {
        sodium_memzero(all->pods.texts[i], strlen(all->pods.texts[i]));
        free(all->pods.texts[i]);
    }
    free(all->pods.texts);
}

static int write_all(struct invitations *all, const char *names,
                     struct err *err)
{
    char *line = mem_printf("%s transport=tcp\n", names);
    int rc = hosts_parse("HOST", line, strlen(line), &all->hosts, err);

    free(line);
    if (rc == 0)
        rc = dial_keys_open(all->db, &all->keys, err);
    if (rc == 0)
        rc = settle_port(all, err);
    for (size_t i = 0; rc == 0 && i < all->hosts.n; i++)
        rc = dial_keys_host(all->keys, all->hosts.list[i].name, err)
                 ? 0
                 : ERR_SYSTEM;
    if (rc == 0)
        rc = dial_keys_save(all->keys, err); /* before they are given away */
    if (rc == 0)
        all->pods.texts = mem_new(all->hosts.n, sizeof(char *));
    for (size_t i = 0; rc == 0 && i < all->hosts.n; i++)
        rc = write_one(all, all->hosts.list[i].name, err);
    if (rc == 0 && all->pods.image)
        rc = write_pods(all, err);
    return rc;
}

static void show_pods(const struct invitations *all, struct json_out *out)
{
    char *path = mem_printf("%s/%s", all->folder, PODS_FILE);

    if (out)
        json_out_text(out, "kubernetes", path);
    else
        puts(path);
    free(path);
}

static void show(const struct invitations *all, bool json)
{
    struct json_out out;

    if (json) {
        json_out_init(&out, stdout);
        json_out_open(&out, NULL, '{');
        json_out_text(&out, "database", all->db);
        json_out_open(&out, "invitations", '[');
    }
    for (size_t i = 0; i < all->hosts.n; i++) {
        const char *name = all->hosts.list[i].name;
        char *path = mem_printf("%s/%s", all->folder, name);

        if (json) {
            json_out_open(&out, NULL, '{');
            json_out_text(&out, "host", name);
            json_out_text(&out, "file", path);
            json_out_close(&out);
        } else {
            puts(path);
        }
        free(path);
    }
    if (json)
        json_out_close(&out);
    if (all->pods.image)
        show_pods(all, json ? &out : NULL);
    if (json)
        json_out_close(&out);
}

int cmd_invite(int argc, char *argv[])
{
    const char *plain[2] = { NULL, NULL }, *db = NULL, *listen = NULL;
    bool json = false;
    struct invitations all = { .pods = { .gpus = 1 } };
    const struct option list[] = {
        { "db", OPTION_TEXT, &db, "FILE",
          "the database (default: NAME.db beside the sweep file)", NULL },
        { "listen", OPTION_TEXT, &listen, "ADDRESS[:PORT]",
          "where workers reach this machine; give it to sweep as well", NULL },
        { "kubernetes", OPTION_TEXT, &all.pods.image, "IMAGE",
          "write a job for kubectl as well, of this image with fa-worker",
          NULL },
        { "pod-gpus", OPTION_INT, &all.pods.gpus, "N",
          "GPUs of a pod (default: 1)", NULL },
        { "json", OPTION_FLAG, &json, NULL, "for programs", NULL },
    };
    const struct options options = {
        .command = "invite",
        .arguments = "HOST [SWEEP]",
        .what = "Write invitations for workers that dial back: those of HOST, "
                "such as node7 or pod[0-3], with transport=tcp in the hosts "
                "file.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .needing = "pod-gpus",
        .needed = "kubernetes",
        .arguments_min = 1,
        .arguments_max = 2,
        .plain = plain,
    };
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = listen_read(listen, &all.listen, &err);
    if (rc == 0)
        rc = name_db(db, plain[1] ? plain[1] : "sweep.json", &all.db, &err);
    if (rc == 0) {
        all.folder = dial_keys_folder(all.db);
        rc = write_all(&all, plain[0], &err);
    }
    if (rc == 0) {
        show(&all, json);
        rc = terminal_flush(stdout, &err);
    }
    free_pods(&all);
    dial_keys_close(all.keys);
    hosts_fini(&all.hosts);
    free(all.folder);
    free(all.db);
    return rc < 0 ? fail_with(rc, &err) : 0;
}
