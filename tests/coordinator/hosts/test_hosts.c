#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/hosts/hosts.h"

#define RATE_WHY                                                               \
    "rate= is US dollars per hour for the whole host, such as 0.68; leave it " \
    "out for a host without a price"
#define NAME_WHY                                                       \
    "write an alias of ~/.ssh/config, a name or an address: letters, " \
    "digits, '.', '-' and '_'"
#define WORDS_WHY \
    "after the host, write attributes as key=value without blanks around '='"

static const struct {
    const char *text, *message;
} bad[] = {
    { "# nothing\n\n", "hosts.txt: the file names no host; write one per line, "
                       "such as user@gpu7:22 rate=0.68" },
    { "gpu7 rat=0.68",
      "hosts.txt:1:6: unknown attribute 'rat'\n"
      "  gpu7 rat=0.68\n"
      "       ^\n"
      "the attributes are role gpus slots rate key workdir nvcc allow "
      "hostkey jump transport model start stop poweroff boot min_bill round "
      "spot "
      "max; did you "
      "mean 'rate'?" },
    { "gpu7 allow=~/a::/b", "hosts.txt:1:16: allow has an empty folder\n"
                            "  gpu7 allow=~/a::/b\n"
                            "                 ^\n"
                            "write folders as in allow=~/cuda:~/miniconda3" },
    { "gpu7 allow=~/a:b", "hosts.txt:1:16: 'b' is a relative path\n"
                          "  gpu7 allow=~/a:b\n"
                          "                 ^\n"
                          "write /path or ~/path" },
    { "gpu7 zzzzzzzz=1",
      "hosts.txt:1:6: unknown attribute 'zzzzzzzz'\n"
      "  gpu7 zzzzzzzz=1\n"
      "       ^\n"
      "the attributes are role gpus slots rate key workdir nvcc allow "
      "hostkey jump transport model start stop poweroff boot min_bill round "
      "spot "
      "max" },
    { "gpu7\n-oProxyCommand=x",
      "hosts.txt:2:1: host '-oProxyCommand=x' starts with '-'\n"
      "  -oProxyCommand=x\n"
      "  ^\n"
      "ssh would read it as an option" },
    { "gpu7 jump=-x", "hosts.txt:1:11: host '-x' starts with '-'\n"
                      "  gpu7 jump=-x\n"
                      "            ^\n"
                      "ssh would read it as an option" },
    { "me@gpu7:70000",
      "hosts.txt:1:9: port '70000' is not in 1..65535\n  me@gpu7:70000\n"
      "          ^\nwrite host:22; an IPv6 address is written [2001:db8::1]" },
    { "2001:db8::1",
      "hosts.txt:1:6: port 'db8::1' is not in 1..65535\n  2001:db8::1\n"
      "       ^\nwrite host:22; an IPv6 address is written [2001:db8::1]" },
    { "all:\n  hosts:",
      "hosts.txt:1:5: a port is missing after ':'\n"
      "  all:\n"
      "      ^\n"
      "write host:22, or the host alone (YAML lists are not supported; INI "
      "inventories are)" },
    { "me@[zz::1]:22",
      "hosts.txt:1:4: '[zz::1]:22' is not an IPv6 address\n  me@[zz::1]:22\n"
      "     ^\nwrite user@[2001:db8::1]:22" },
    { "gpu7\th\xc3\xa4st rate=1",
      "hosts.txt:1:6: 'h\xc3\xa4st' is not an attribute\n"
      "  gpu7 h\xc3\xa4st rate=1\n       ^\n" WORDS_WHY },
    { "h\xc3\xa4st rat=1",
      "hosts.txt:1:7: unknown attribute 'rat'\n"
      "  h\xc3\xa4st rat=1\n"
      "       ^\n"
      "the attributes are role gpus slots rate key "
      "workdir nvcc allow hostkey jump transport model start "
      "stop poweroff boot min_bill round spot max; did you "
      "mean 'rate'?" },
    { "h\xc3\xa4st", "hosts.txt:1:1: 'h\xc3\xa4st' is not a host\n  "
                     "h\xc3\xa4st\n  ^\n" NAME_WHY },
    { "@gpu7",
      "hosts.txt:1:1: '' is not a user\n  @gpu7\n  ^\nwrite user@host; "
      "a user has letters, digits, '.', '-' and '_'" },
    { "me@", "hosts.txt:1:4: '' is not a host\n  me@\n     ^\n" NAME_WHY },
    { "rate=1", "hosts.txt:1:1: the host is missing\n"
                "  rate=1\n"
                "  ^\n"
                "begin the line with an alias or user@host[:port]" },
    { "gp\001u7", "hosts.txt:1:3: control character 0x01\n"
                  "  gp u7\n"
                  "    ^\n"
                  "a hosts file is plain text; save it as UTF-8" },
    { "gpu7 rate=0,71", "hosts.txt:1:11: rate '0,71' is not a number\n"
                        "  gpu7 rate=0,71\n"
                        "            ^\n"
                        "write a decimal point, as in 0.71" },
    { "gpu7 rate=-1", "hosts.txt:1:11: rate '-1' is negative\n"
                      "  gpu7 rate=-1\n            ^\n" RATE_WHY },
    { "gpu7 rate=$2", "hosts.txt:1:11: rate '$2' is not a number\n"
                      "  gpu7 rate=$2\n            ^\n" RATE_WHY },
    { "gpu7 rate=nan", "hosts.txt:1:11: rate 'nan' is not a number\n"
                       "  gpu7 rate=nan\n            ^\n" RATE_WHY },
    { "gpu7 rate=999999",
      "hosts.txt:1:11: rate 999999 is more than 100000 USD per hour\n"
      "  gpu7 rate=999999\n"
      "            ^\n" RATE_WHY },
    { "gpu7 rate=1 rate=2",
      "hosts.txt:1:13: attribute 'rate' is given twice on this line\n"
      "  gpu7 rate=1 rate=2\n"
      "              ^\n"
      "remove one of the two" },
    { "gpu7 rate =1", "hosts.txt:1:6: 'rate' is not an attribute\n"
                      "  gpu7 rate =1\n       ^\n" WORDS_WHY },
    { "gpu7 rate=", "hosts.txt:1:11: attribute 'rate' has no value\n"
                    "  gpu7 rate=\n            ^\n"
                    "write key=value without blanks around '='" },
    { "gpu7 gpus=0,0", "hosts.txt:1:13: GPU 0 is given twice\n"
                       "  gpu7 gpus=0,0\n"
                       "              ^\n"
                       "name each GPU once" },
    { "gpu7 gpus=0,x", "hosts.txt:1:13: 'x' is not a GPU index in 0..63\n"
                       "  gpu7 gpus=0,x\n"
                       "              ^\n"
                       "write all, none or indices such as 0,1" },
    { "gpu7 role=worker", "hosts.txt:1:11: unknown role 'worker'\n"
                          "  gpu7 role=worker\n"
                          "            ^\n"
                          "choose gpu (measures), builder (compiles) or both" },
    { "gpu7 slots=0",
      "hosts.txt:1:12: slots '0' is not in 1..1024\n"
      "  gpu7 slots=0\n"
      "             ^\n"
      "slots= is the number of builds at a time; leave it out, and the host "
      "chooses by its cores" },
    { "gpu7 key=~/.ssh/id_ed25519.pub",
      "hosts.txt:1:10: '~/.ssh/id_ed25519.pub' is a public key\n"
      "  gpu7 key=~/.ssh/id_ed25519.pub\n"
      "           ^\n"
      "name the private key: the same file without '.pub'" },
    { "gpu7 workdir=/tmp/$(id)",
      "hosts.txt:1:19: a remote path contains the character '$'\n"
      "  gpu7 workdir=/tmp/$(id)\n"
      "                    ^\n"
      "a remote path may contain only letters, digits and / . _ - + @ % , :" },
    { "gpu7 start=./rent", "hosts.txt:1:6: start= is given without stop=\n"
                           "  gpu7 start=./rent\n"
                           "       ^\n"
                           "add stop=, or the machine would run for ever" },
    { "gpu7 start=\"./rent | tee log\" stop=./end",
      "hosts.txt:1:20: the command contains the character '|'\n"
      "  gpu7 start=\"./rent | tee log\" stop=./end\n"
      "                     ^\n"
      "no shell reads the command; write a script, and name it here" },
    { "gpu7 start=\"./a {hots}\" stop=./b",
      "hosts.txt:1:17: the command contains '{'\n"
      "  gpu7 start=\"./a {hots}\" stop=./b\n"
      "                  ^\n"
      "only {host} is replaced, by the host's name" },
    { "gpu7 start=\"./a {host\" stop=./b",
      "hosts.txt:1:17: the command contains '{'\n"
      "  gpu7 start=\"./a {host\" stop=./b\n"
      "                  ^\n"
      "only {host} is replaced, by the host's name" },
    { "gpu7 stop=./end", "hosts.txt:1:6: stop= is given without start=\n"
                         "  gpu7 stop=./end\n"
                         "       ^\n"
                         "add start=, or remove stop=: only what a sweep "
                         "started is stopped" },
    { "gpu7 boot=90s",
      "hosts.txt:1:6: attribute 'boot' has no effect without start=\n"
      "  gpu7 boot=90s\n"
      "       ^\n"
      "add start= and stop=, or remove it" },
    { "gpu7 start=./a stop=./b boot=90",
      "hosts.txt:1:30: '90' is not a time\n"
      "  gpu7 start=./a stop=./b boot=90\n"
      "                               ^\n"
      "write seconds, minutes or hours, whole and up to 86400: 90s, 2m, "
      "1h" },
    { "localhost start=./a stop=./b",
      "hosts.txt:1:11: 'localhost' cannot be started\n"
      "  localhost start=./a stop=./b\n"
      "            ^\n"
      "write user@localhost to reach this machine over SSH" },
    { "pool l4 start=./a stop=./b", "hosts.txt:1:6: pool 'l4' has no max=\n"
                                    "  pool l4 start=./a stop=./b\n"
                                    "       ^\n"
                                    "write pool NAME max=8 start=... "
                                    "stop=..." },
    { "localhost poweroff=./off",
      "hosts.txt:1:11: 'localhost' is not powered off\n"
      "  localhost poweroff=./off\n"
      "            ^\n"
      "this is the machine of fa-coord itself" },
    { "gpu7 max=3", "hosts.txt:1:10: max= is for a pool\n"
                    "  gpu7 max=3\n"
                    "           ^\n"
                    "write pool NAME max=8 start=... stop=..." },
    { "gpu7 transport=udp",
      "hosts.txt:1:16: unknown transport 'udp'\n"
      "  gpu7 transport=udp\n"
      "                 ^\n"
      "write transport=ssh, or transport=tcp for a worker that dials back" },
    { "gpu7 transport=tcp jump=gate",
      "hosts.txt:1:20: attribute 'jump' has no effect here\n"
      "  gpu7 transport=tcp jump=gate\n"
      "                     ^\n"
      "with transport=tcp the worker dials back; leave one of the two out" },
    { "gpu7 transport=tcp start=./a stop=./b",
      "hosts.txt:1:20: attribute 'start' has no effect here\n"
      "  gpu7 transport=tcp start=./a stop=./b\n"
      "                     ^\n"
      "with transport=tcp the worker dials back; leave one of the two out" },
    { "gpu7 nodes=4", "hosts.txt:1:6: attribute 'nodes' has no effect here\n"
                      "  gpu7 nodes=4\n"
                      "       ^\n"
                      "it is for slurm:PARTITION" },
    { "slurm:gpu",
      "hosts.txt:1:1: slurm:gpu has no workdir\n"
      "  slurm:gpu\n"
      "  ^\n"
      "add workdir=/FOLDER, a folder that this machine and the nodes share" },
    { "slurm: workdir=/w", "hosts.txt:1:1: 'slurm:' names no partition\n"
                           "  slurm: workdir=/w\n"
                           "  ^\n"
                           "write slurm:PARTITION, as sinfo names it" },
    { "slurm:gpu nodes=4-2 workdir=/w",
      "hosts.txt:1:17: nodes '4-2' is not in 1..1000\n"
      "  slurm:gpu nodes=4-2 workdir=/w\n"
      "                  ^\n"
      "write nodes=4, or nodes=1-16 for one to 16" },
    { "slurm:gpu time=0:0 workdir=/w",
      "hosts.txt:1:16: '0:0' is not a time of Slurm\n"
      "  slurm:gpu time=0:0 workdir=/w\n"
      "                 ^\n"
      "write time=30 (minutes), 0:30:00 or 1-12:00:00, up to a year" },
    { "slurm:gpu gpus=0,1 workdir=/w",
      "hosts.txt:1:1: gpus=0,1 is no number of GPUs\n"
      "  slurm:gpu gpus=0,1 workdir=/w\n"
      "  ^\n"
      "of Slurm, gpus=4 is how many GPUs each node has to have" },
    { "slurm:gpu workdir=/w key=~/k",
      "hosts.txt:1:22: attribute 'key' has no effect here\n"
      "  slurm:gpu workdir=/w key=~/k\n"
      "                       ^\n"
      "Slurm starts the worker, which dials back" },
    { "slurm:gpu nodes=2 workdir=/w\nslurm:gpu nodes=3 workdir=/w",
      "hosts.txt:2:1: host 'slurm:gpu-1' is already on line 1\n"
      "  slurm:gpu nodes=3 workdir=/w\n"
      "  ^\n"
      "name each host once, with all its attributes" },
    { "gpu7 hostkey=SHA256:abc",
      "hosts.txt:1:14: 'SHA256:abc' is not a fingerprint\n"
      "  gpu7 hostkey=SHA256:abc\n               ^\nwrite SHA256: and 43 "
      "characters, as printed by ssh-keygen -lf "
      "/etc/ssh/ssh_host_ed25519_key.pub" },
    { "gpu[01-16", "hosts.txt:1:4: '[' is not closed\n  gpu[01-16\n     ^\n"
                   "write gpu[01-16], or [2001:db8::1] for an address" },
    { "gpu[16-01]", "hosts.txt:1:5: range 16-1 is backwards\n"
                    "  gpu[16-01]\n"
                    "      ^\n"
                    "write the smaller number first" },
    { "gpu[a-f]", "hosts.txt:1:5: '[a-f]' is not a range\n"
                  "  gpu[a-f]\n"
                  "      ^\n"
                  "write numbers, such as gpu[01-16] or gpu[1,3,5-7]" },
    { "gpu7 rate=1\ngpu7 rate=2",
      "hosts.txt:2:1: host 'gpu7' is already on line 1\n"
      "  gpu7 rate=2\n"
      "  ^\n"
      "name each host once, with all its attributes" },
    { "a,,b", "hosts.txt:1:3: there is no host before ','\n"
              "  a,,b\n"
              "    ^\n"
              "write a,b,c without blanks" },
    { "[gpu:vars]\nansible_user=root",
      "hosts.txt:1:5: section '[gpu:vars]'\n"
      "  [gpu:vars]\n"
      "      ^\n"
      "group variables are not supported; write them on the line of each "
      "host" },
    { "localhost key=~/.ssh/x",
      "hosts.txt:1:11: attribute 'key' has no effect here\n"
      "  localhost key=~/.ssh/x\n"
      "            ^\n"
      "'localhost' does not use SSH; write user@localhost to reach this "
      "machine over SSH" },
    { "gpu7 role=builder gpus=0",
      "hosts.txt:1:19: role=builder does not go with gpus=0\n"
      "  gpu7 role=builder gpus=0\n"
      "                    ^\n"
      "a builder does not measure; write role=both" },
};

static void a_flaw_gets_its_one_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct hosts hosts;
        struct err err = { "" };
        int rc = hosts_parse("hosts.txt", bad[i].text, strlen(bad[i].text),
                             &hosts, &err);

        assert_string_equal(err.text, bad[i].message);
        assert_int_equal(rc, ERR_INPUT);
        assert_null(hosts.list);
    }
}

static struct hosts parse(const char *text)
{
    struct hosts hosts;
    struct err err;

    if (hosts_parse("hosts.txt", text, strlen(text), &hosts, &err) < 0)
        fail_msg("%s", err.text);
    return hosts;
}

/* The names, with a blank after each. */
static void names_are(const char *text, const char *want)
{
    struct hosts hosts = parse(text);
    char names[4096] = "";

    for (size_t i = 0; i < hosts.n; i++)
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ",
                 hosts.list[i].name);
    assert_string_equal(names, want);
    hosts_fini(&hosts);
}

static void a_full_line_is_read(void **state)
{
    struct hosts hosts = parse(
        "me@gpu7:2222 role=gpu gpus=0,2 slots=4 rate=0.68 key=\"~/my key\" "
        "workdir=~/fa nvcc=/usr/local/cuda/bin/nvcc transport=ssh jump=gate "
        "allow=~/conda:/home/me/cuda "
        "hostkey=SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA # mine");
    const struct host *host = hosts.list;

    (void)state;
    assert_string_equal(host->name, "me@gpu7:2222");
    assert_string_equal(host->user, "me");
    assert_string_equal(host->address, "gpu7");
    assert_int_equal(host->port, 2222);
    assert_int_equal(host->role, HOST_GPU);
    assert_string_equal(host->gpus, "0,2");
    assert_int_equal(host->slots, 4);
    assert_true(host->has_rate);
    assert_float_equal(host->rate, 0.68, 1e-12);
    assert_string_equal(host->key, "~/my key");
    assert_string_equal(host->workdir, "~/fa");
    assert_string_equal(host->nvcc, "/usr/local/cuda/bin/nvcc");
    assert_string_equal(host->allow, "~/conda:/home/me/cuda");
    assert_string_equal(host->jump, "gate");
    assert_false(host->local);
    hosts_fini(&hosts);
}

static void a_host_without_a_rate_is_unpriced(void **state)
{
    struct hosts hosts = parse("free rate=0\nother role=builder");

    (void)state;
    assert_true(hosts.list[0].has_rate);
    assert_float_equal(hosts.list[0].rate, 0.0, 0.0);
    assert_string_equal(hosts.list[0].gpus, "all");
    assert_false(hosts.list[1].has_rate);
    assert_string_equal(hosts.list[1].gpus, "none");
    assert_string_equal(host_gpus(&hosts.list[0]), "all");
    assert_string_equal(host_gpus(&hosts.list[1]), "none");
    hosts_fini(&hosts);
    hosts_local(&hosts);
    assert_string_equal(host_gpus(&hosts.list[0]), "all");
    hosts_fini(&hosts);
}

static void localhost_alone_means_no_ssh(void **state)
{
    struct hosts hosts = parse("localhost\nme@localhost\nlocalhost:22");

    (void)state;
    assert_true(hosts.list[0].local);
    assert_false(hosts.list[1].local);
    assert_false(hosts.list[2].local);
    hosts_fini(&hosts);
}

static void ranges_expand(void **state)
{
    (void)state;
    names_are("gpu[08-10]", "gpu08 gpu09 gpu10 ");
    names_are("me@g[1:2]-[0,7].net:22",
              "me@g1-0.net:22 me@g1-7.net:22 me@g2-0.net:22 me@g2-7.net:22 ");
    names_are("a,b[1-2],c rate=1", "a b1 b2 c ");
}

static void each_node_of_slurm_is_a_host(void **state)
{
    struct hosts hosts = parse("slurm:gpu nodes=1-3 gpus=4 time=0:30:00 "
                               "rate=2.80 workdir=/w\n"
                               "slurm:cpu gpus=0 time=1-2 workdir=/w\n");
    const struct host *host = &hosts.list[2];

    (void)state;
    names_are("slurm:gpu nodes=1-3 workdir=/w",
              "slurm:gpu-1 slurm:gpu-2 slurm:gpu-3 ");
    assert_int_equal(hosts.n, 4);
    assert_string_equal(host->name, "slurm:gpu-3");
    assert_string_equal(host->gpus, "all");
    assert_string_equal(host->dial.slurm.partition, "gpu");
    assert_int_equal(host->dial.slurm.task, 3);
    assert_int_equal(host->dial.slurm.least, 1);
    assert_int_equal(host->dial.slurm.most, 3);
    assert_int_equal(host->dial.slurm.gpus, 4);
    assert_int_equal(host->dial.slurm.minutes, 30);
    assert_float_equal(host->rate, 2.8, 1e-12);
    assert_true(host->dial.back);
    assert_string_equal(hosts.list[3].gpus, "none");
    assert_int_equal(hosts.list[3].dial.slurm.minutes, 26 * 60);
    hosts_fini(&hosts);
}

static void times_are_those_of_sbatch(void **state)
{
    static const struct {
        const char *text;
        int minutes;
    } rows[] = { { "30", 30 },    { "30:01", 31 },    { "2:00:00", 120 },
                 { "1-0", 1440 }, { "1-1:30", 1530 }, { "0-0:0:1", 1 } };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char line[80];
        struct hosts hosts;

        snprintf(line, sizeof(line), "slurm:gpu workdir=/w time=%s",
                 rows[i].text);
        hosts = parse(line);
        assert_int_equal(hosts.list->dial.slurm.minutes, rows[i].minutes);
        hosts_fini(&hosts);
    }
}

static void addresses_in_brackets_are_no_ranges(void **state)
{
    struct hosts hosts = parse("[2001:db8::1]\nme@[fe80::1%eth0]:2222");

    (void)state;
    assert_string_equal(hosts.list[0].address, "2001:db8::1");
    assert_int_equal(hosts.list[0].port, 0);
    assert_string_equal(hosts.list[1].address, "fe80::1%eth0");
    assert_int_equal(hosts.list[1].port, 2222);
    hosts_fini(&hosts);
}

static void files_of_other_tools_parse(void **state)
{
    (void)state;
    names_are("\xef\xbb\xbfgpu1\r\ngpu2\r\n", "gpu1 gpu2 ");
    names_are("gpu1 slots=4 max_slots=8\ngpu1\ngpu1\ngpu2", "gpu1 gpu2 ");
    names_are("[gpus]\ng1 ansible_user=me\ng2 ; two\n[all:children]\ngpus\n"
              "[rest] # x\ng1\ng3\n",
              "g1 g2 g3 ");
}

static void an_inventory_says_how_to_reach(void **state)
{
    struct hosts hosts = parse(
        "[gpus]\nbig ansible_host=10.0.0.7 ansible_port=2222 ansible_user=me "
        "ansible_ssh_private_key_file=~/.ssh/k\nhere ansible_connection=local");

    (void)state;
    assert_string_equal(hosts.list[0].name, "big");
    assert_string_equal(hosts.list[0].address, "10.0.0.7");
    assert_int_equal(hosts.list[0].port, 2222);
    assert_string_equal(hosts.list[0].user, "me");
    assert_string_equal(hosts.list[0].key, "~/.ssh/k");
    assert_true(hosts.list[1].local);
    hosts_fini(&hosts);
}

static void too_many_hosts_are_refused(void **state)
{
    struct hosts hosts;
    struct err err;

    (void)state;
    assert_int_equal(hosts_parse("h", "g[0-63]-[0-64]", 14, &hosts, &err),
                     ERR_INPUT);
    assert_non_null(strstr(err.text, "more than 4096 hosts"));
}

static void a_long_line_is_shown_in_part(void **state)
{
    struct hosts hosts;
    struct err err;
    char text[3000];

    (void)state;
    memset(text, 'a', sizeof(text));
    memcpy(text, "gpu7 key=/", 10);
    memcpy(text + 200, " rat=1 ", 7);
    assert_int_equal(hosts_parse("h", text, 300, &hosts, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "h:1:202: unknown attribute 'rat'"));
    assert_true(strlen(err.text) < 400);
}

static void a_rented_host_says_what_it_costs_to_hold(void **state)
{
    static const char text[] =
        "gpu7 rate=0.68 start=\"./rent {host}\" stop=\"./end {host}\" "
        "boot=90s min_bill=1m round=1s spot\n"
        "gpu8\n";
    struct hosts hosts;
    struct err err;

    (void)state;
    assert_int_equal(hosts_parse("h", text, strlen(text), &hosts, &err), 0);
    assert_true(host_is_rented(&hosts.list[0]));
    assert_string_equal(hosts.list[0].rental.start, "./rent {host}");
    assert_string_equal(hosts.list[0].rental.stop, "./end {host}");
    assert_true(hosts.list[0].rental.boot_s == 90);
    assert_true(hosts.list[0].rental.min_bill_s == 60);
    assert_true(hosts.list[0].rental.round_s == 1);
    assert_true(hosts.list[0].rental.spot);
    assert_false(host_is_rented(&hosts.list[1]));
    hosts_fini(&hosts);
}

static void a_pool_is_as_many_hosts_as_it_may_have(void **state)
{
    static const char text[] =
        "pool l4 max=3 rate=0.68 start=./rent stop=./end\npool\n";
    struct hosts hosts;
    struct err err;

    (void)state;
    assert_int_equal(hosts_parse("h", text, strlen(text), &hosts, &err), 0);
    assert_int_equal(hosts.n, 4);
    assert_string_equal(hosts.list[0].name, "l4-1");
    assert_string_equal(hosts.list[2].name, "l4-3");
    assert_true(host_is_rented(&hosts.list[2]));
    assert_string_equal(hosts.list[3].name, "pool");
    hosts_fini(&hosts);
}

static void a_missing_file_is_named(void **state)
{
    struct hosts hosts;
    struct err err;

    (void)state;
    assert_int_equal(hosts_load("/", &hosts, &err), ERR_INPUT);
    assert_string_equal(err.text, "/ is a folder; name a file");
    assert_int_equal(hosts_load("/dev/null", &hosts, &err), ERR_INPUT);
    assert_string_equal(err.text,
                        "/dev/null is no file that can be read again, as "
                        "'resume' will; write the hosts to a file");
    assert_int_equal(hosts_load("nowhere.txt", &hosts, &err), ERR_INPUT);
    assert_string_equal(
        err.text,
        "nowhere.txt: No such file or directory; write a file with one host "
        "per line, or leave out --hosts to use this machine");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flaw_gets_its_one_message),
        cmocka_unit_test(a_full_line_is_read),
        cmocka_unit_test(a_host_without_a_rate_is_unpriced),
        cmocka_unit_test(localhost_alone_means_no_ssh),
        cmocka_unit_test(ranges_expand),
        cmocka_unit_test(each_node_of_slurm_is_a_host),
        cmocka_unit_test(times_are_those_of_sbatch),
        cmocka_unit_test(addresses_in_brackets_are_no_ranges),
        cmocka_unit_test(files_of_other_tools_parse),
        cmocka_unit_test(an_inventory_says_how_to_reach),
        cmocka_unit_test(too_many_hosts_are_refused),
        cmocka_unit_test(a_long_line_is_shown_in_part),
        cmocka_unit_test(a_rented_host_says_what_it_costs_to_hold),
        cmocka_unit_test(a_pool_is_as_many_hosts_as_it_may_have),
        cmocka_unit_test(a_missing_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
