/* The commands of fa-coord, in the order of a sweep. */
#include "coordinator/cli/command_table.h"

#include "coordinator/cli/cmd.h"
#include "coordinator/usage/commands.h"

static const struct command commands[] = {
    { "init", cmd_init, "begin a sweep, from a template or for your kernel",
      "fa-coord init --template stencil my_stencil\n"
      "fa-coord init --from kernel.cu   # reads its parameters and macros\n" },
    { "check", cmd_check, "validate a sweep file offline",
      "fa-coord check                  # the sweep.json of this folder\n"
      "fa-coord check --device cpu     # for the device that emulates\n" },
    { "space", cmd_space, "show what each gate rejects and what passes",
      "fa-coord space --arch sm_89\n"
      "fa-coord space --arch sm_89 --build   # compile them: registers, "
      "spills\n"
      "fa-coord space --list                 # one line a configuration\n" },
    { "doctor", cmd_doctor, "check that this machine and the hosts are ready",
      "fa-coord doctor\n"
      "fa-coord doctor --hosts hosts.txt\n"
      "fa-coord doctor --device cpu          # is what the emulator needs "
      "here?\n" },
    { "sweep", cmd_sweep, "start a sweep, or continue one that stopped",
      "fa-coord sweep --hosts hosts.txt\n"
      "fa-coord sweep --hosts hosts.txt --dry-run     # the plan and no more\n"
      "fa-coord sweep --hosts hosts.txt --budget 5    # stop at 5 dollars\n"
      "fa-coord sweep --device cpu --evaluations 20   # here, without a "
      "GPU\n" },
    { "invite", cmd_invite, "invite workers that dial back (transport=tcp)",
      "fa-coord invite node7           # then there: fa-worker --invitation "
      "FILE\n"
      "fa-coord invite pod[0-3] --listen 10.0.0.5 --kubernetes IMAGE\n" },
    { "resume", cmd_resume, "continue the sweep of a database",
      "fa-coord resume\n"
      "fa-coord resume sweep.db --hosts others.txt\n" },
    { "confirm", cmd_confirm, "compare the best of a sweep with its baseline",
      "fa-coord confirm\n" },
    { "bench", cmd_bench, "compare baseline and winners at each shape",
      "fa-coord bench --shape all --hosts hosts.txt\n"
      "fa-coord bench --config BLOCK_M=64,BLOCK_N=64 --config 3936db44\n" },
    { "fuzz", cmd_fuzz, "check configurations at many shapes",
      "fa-coord fuzz --hosts hosts.txt\n"
      "fa-coord fuzz --best 5\n" },
    { "profile", cmd_profile, "profile winner and baseline with Nsight Compute",
      "fa-coord profile --hosts hosts.txt\n" },
    { "status", cmd_status, "show the progress of a sweep, also while it runs",
      "fa-coord status\n"
      "fa-coord status --json | jq .done\n" },
    { "release", cmd_release, "stop rented machines that still run",
      "fa-coord release                # what a killed sweep left running\n"
      "fa-coord release --dry-run      # show it\n" },
    { "watch", cmd_watch, "watch a sweep until it ends",
      "fa-coord watch\n"
      "fa-coord watch sweep.db --interval 5\n" },
    { "report", cmd_report, "show the results and the cost of a sweep",
      "fa-coord report\n"
      "fa-coord report --cost\n"
      "fa-coord report --show lessons,failures\n"
      "fa-coord report --where \"BLOCK_M = 64 AND median_s < 1e-3\"\n"
      "fa-coord report --html report.html\n" },
    { "serve", cmd_serve, "show sweeps in a browser, also while they run",
      "fa-coord serve                  # open the address that it prints\n"
      "fa-coord serve monday.db tuesday.db\n" },
    { "compare", cmd_compare, "compare two databases: is the second slower?",
      "fa-coord compare last_week.db today.db\n"
      "fa-coord compare --threshold 3% last_week.db today.db\n" },
    { "explain", cmd_explain,
      "explain why a configuration failed or has its rank",
      "fa-coord explain ef5803db\n"
      "fa-coord explain BLOCK_M=64,BLOCK_N=64\n"
      "fa-coord explain ef5803db --sanitize   # run compute-sanitizer on "
      "it\n" },
    { "export", cmd_export,
      "export the winner as a C header, JSON or nvcc options",
      "fa-coord export --out tuned.h\n"
      "nvcc $(fa-coord export --format flags) kernel.cu\n" },
    { "import", cmd_import, "import results of another tuner",
      "fa-coord import convolution_A100.json.gz\n" },
    { "verify", cmd_verify, "verify checksums and invariants of a database",
      "fa-coord verify sweep.db\n" },
    { "recover", cmd_recover, "copy the intact rows of a damaged database",
      "fa-coord recover sweep.db --to sound.db\n" },
    { "prune", cmd_prune, "remove what sweeps left behind, here and on hosts",
      "fa-coord prune --dry-run                # beside the database\n"
      "fa-coord prune --hosts hosts.txt        # and in the work folders\n"
      "fa-coord prune --hosts hosts.txt --older 12h --json\n" },
    { "config", cmd_config,
      "show the defaults of flags, and where they are from",
      "fa-coord config --show-origin\n"
      "FA_COORD_HOSTS=hosts.txt fa-coord doctor\n" },
    { "completion", cmd_completion, "print a completion for bash, zsh or fish",
      "eval \"$(fa-coord completion bash)\"            # in ~/.bashrc\n"
      "fa-coord completion zsh > ~/.zfunc/_fa-coord   # in a folder of fpath\n"
      "fa-coord completion fish > ~/.config/fish/completions/fa-coord.fish\n" },
    { "help", cmd_help, "explain a command, or print its manual page",
      "fa-coord help sweep\n"
      "fa-coord help sweep --man | man -l -\n" },
};

void command_table_use(void)
{
    commands_set(commands, sizeof(commands) / sizeof(commands[0]));
}
