/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/table.h"

struct page {
    const char *command, *text;
};

#define TURN_HELP                                                                      \
    "  --trace FILE       write every call of a plugin that is made, one a line\n"     \
    "  --allow-change     also go on with an experiment that would make other "        \
    "numbers\n"                                                                        \
    "  --time-limit TIME  as if told to stop after 2h, 30min or 45s: exit status 75\n" \
    "  --plugin-path DIR  look for plugins here first; may be given again\n"           \
    "  --json             print every record as a line of JSON; the last one is\n"     \
    "                     {\"event\":\"end\",...}\n"                                   \
    "  --quiet            show nothing but warnings and errors\n"                      \
    "  -v                 show more of what happens\n"

static const struct page pages[] = {
    {"run",
     "Usage: lathe run EXPERIMENT [PATH=VALUE...] [FLAG...]\n"
     "\n"
     "Trains what the experiment file describes. PATH=VALUE takes the place of a value "
     "of\n"
     "the file; paths are spelled with dots, and the plugin's manifest says what type "
     "the\n"
     "value has. Progress is shown on stderr; stdout stays empty without --json.\n"
     "\n"
     "Flags\n"
     "  --run-dir DIR      directory of this run, absent or empty; without it\n"
     "                     runs/<name>-<UTC time>-<4 hex>, and runs/latest leads "
     "there\n"
     "  --resume           go on with the newest run of this file under runs/ that "
     "was\n"
     "                     not finished, if there is one\n"
     "  --from CHECKPOINT  begin from the state in that file, or the newest of that "
     "run;\n"
     "                     EXPERIMENT may be left out then\n" TURN_HELP "\n"
     "Ctrl-C, SIGTERM and the time limit end the run after the step in hand, with its\n"
     "state saved; a second Ctrl-C ends it at once. SIGUSR1 saves, and the run goes "
     "on.\n"
     "\n"
     "Examples\n"
     "  lathe run manifests/fashion-mlp.json\n"
     "  lathe run manifests/fashion-mlp.json optimizer.lr=0.01 train.until=3ep\n"
     "  lathe run my.json callbacks.early-stopping.patience=5 'model.hidden=[64, 64]'\n"
     "  lathe run my.json 'callbacks=[]' --json >records.jsonl\n"},
    {"resume",
     "Usage: lathe resume RUN [PATH=VALUE...] [FLAG...]\n"
     "\n"
     "Goes on with a run, in its own directory, from its newest whole checkpoint: it "
     "ends\n"
     "with the same bits as if it had never stopped. RUN is its directory, or its "
     "name\n"
     "under runs/. PATH=VALUE may change callbacks, train.threads, paths of data, and\n"
     "train.until where no schedule depends on it.\n"
     "\n"
     "Flags\n" TURN_HELP "\n"
     "Examples\n"
     "  lathe resume latest\n"
     "  lathe resume latest train.until=20ep\n"
     "  lathe resume latest "
     "callbacks.early-stopping.patience=5\n"},
    {"eval",
     "Usage: lathe eval RUN|CHECKPOINT [PATH=VALUE...] [FLAG...]\n"
     "\n"
     "Visits data of the run's experiment with the weights of a checkpoint, of a run "
     "its\n"
     "newest whole one, and prints the metrics: those that the run logged at that "
     "step.\n"
     "Nothing is written into the run, and another process may be at it. RUN is its\n"
     "directory, or its name under runs/. PATH=VALUE may change any value, such as a\n"
     "path of data.\n"
     "\n"
     "Flags\n"
     "  --on DATA          the name of a part of \"data\"; without it test, or else\n"
     "                     validation\n"
     "  --json             print one JSON object: a metrics record with its "
     "checkpoint\n"
     "  --plugin-path DIR  look for plugins here first; may be given again\n"
     "  -v                 show more of what happens\n"
     "\n"
     "Examples\n"
     "  lathe eval latest\n"
     "  lathe eval runs/latest/checkpoints/best.safetensors --on validation --json\n"
     "  lathe eval latest data.test.file=new.csv\n"},
    {"predict",
     "Usage: lathe predict RUN|CHECKPOINT -o FILE [PATH=VALUE...] [FLAG...]\n"
     "\n"
     "Writes what the model says about each sample, in the order of the data, with "
     "the\n"
     "weights that lathe eval would use. Data need not have labels. FILE ends in\n"
     "  .csv   index, then NAME.0, NAME.1, ... of each output, and class, the largest "
     "of\n"
     "         them, where the label has classes\n"
     "  .npy   one output as a NumPy array of float32, a row for each sample\n"
     "or it is -, for CSV on stdout.\n"
     "\n"
     "Flags\n"
     "  -o FILE            the file; one that is there is replaced\n"
     "  --on DATA          the name of a part of \"data\"; without it test, or else\n"
     "                     validation\n"
     "  --output NAME      this output alone\n"
     "  --plugin-path DIR  look for plugins here first; may be given again\n"
     "  -v                 show more of what happens\n"
     "\n"
     "Examples\n"
     "  lathe predict latest --on test -o predictions.csv\n"
     "  lathe predict latest -o - 'data.new={\"use\":\"csv\",\"file\":\"new.csv\"}' "
     "--on new\n"},
    {"explain",
     "Usage: lathe explain EXPERIMENT [PATH=VALUE...] [FLAG...]\n"
     "\n"
     "Puts the experiment together as run would, up to its first step, and shows what "
     "it\n"
     "is made of, its loop as the calls it will make, the arithmetic in numbers, and "
     "every\n"
     "value in force with its origin. Nothing is trained and nothing written; what "
     "would\n"
     "fail before the first step of a run fails here, with the same exit status.\n"
     "\n"
     "Flags\n"
     "  --calls DURATION   show nothing but the calls of so long a run (20step, 1ep), "
     "one\n"
     "                     by one, as run --trace writes them\n"
     "  --json             print one JSON document\n"
     "  --plugin-path DIR  look for plugins here first; may be given again\n"
     "\n"
     "Examples\n"
     "  lathe explain manifests/fashion-mlp.json\n"
     "  lathe explain my.json optimizer.lr=0.01 --json\n"
     "  lathe run my.json train.until=20step --trace made.txt\n"
     "  lathe explain my.json --calls 20step | diff - made.txt\n"},
    {"validate",
     "Usage: lathe validate EXPERIMENT [PATH=VALUE...] [FLAG...]\n"
     "\n"
     "Checks the experiment file, its overrides, and the options of every plugin it "
     "uses,\n"
     "and tells all errors. No plugin's code is loaded.\n"
     "\n"
     "Flags\n"
     "  --plugin-path DIR  look for plugins here first; may be given again\n"
     "  --json             print "
     "{\"ok\":...,\"errors\":[{\"path\",\"message\",\"help\"}]}\n"
     "\n"
     "Examples\n"
     "  lathe validate manifests/fashion-mlp.json\n"
     "  lathe validate my.json optimizer.lr=0.01 --json\n"},
    {"plugins", "Usage: lathe plugins [FLAG...]\n"
                "\n"
                "Lists every plugin of the search path: what it is, whether it can be "
                "used, and why\n"
                "not. No plugin's code is loaded.\n"
                "\n"
                "Flags\n"
                "  --plugin-path DIR  look for plugins here first; may be given again\n"
                "  --json             print a list of objects\n"
                "\n"
                "Examples\n"
                "  lathe plugins\n"
                "  lathe plugins --plugin-path ./mine --json\n"},
    {"inspect", "Usage: lathe inspect PLUGIN [FLAG...]\n"
                "\n"
                "Shows one plugin as its manifest describes it: every option with its "
                "type, range and\n"
                "default. PLUGIN is a name, or KIND/NAME where two kinds share it. No "
                "plugin's code is\n"
                "loaded.\n"
                "\n"
                "Flags\n"
                "  --plugin-path DIR  look for plugins here first; may be given again\n"
                "  --json             print the manifest as JSON\n"
                "\n"
                "Examples\n"
                "  lathe inspect adamw\n"
                "  lathe inspect callback/early-stopping\n"},
    {"help",
     "Usage: lathe help [COMMAND]\n"
     "\n"
     "Lists the commands, or explains one. \"lathe COMMAND --help\" does the same.\n"
     "\n"
     "Example\n"
     "  lathe help run\n"},
};

static const char exit_codes[] =
    "\n"
    "Exit codes\n"
    "    0  finished, or stopped early by the experiment's own rule\n"
    "    1  diverged (a loss or gradient that is not finite), or \"expect\" is not "
    "met\n"
    "   64  the command line is wrong\n"
    "   65  data are bad                    66  a file is not there\n"
    "   69  a plugin is missing or refused  70  a plugin, or lathe itself, failed\n"
    "   71  out of memory or threads        73  a file or directory cannot be made\n"
    "   74  a read or a write failed        75  told to stop by SIGTERM\n"
    "   77  permission or ownership         78  the experiment or a manifest is wrong\n"
    "  130  told to stop by Ctrl-C         141  who read the output has gone\n";

static void print_overview(void) {
    puts("lathe trains models that are put together from plugins, as one JSON file "
         "says.\n"
         "\n"
         "Usage: lathe COMMAND [ARGUMENT...]\n");
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++)
        printf("  %-9s %s\n", command->name, command->summary);
    puts("\n"
         "\"lathe help COMMAND\" shows flags, examples and exit codes; \"lathe "
         "--version\" "
         "the versions.\n"
         "Start with: lathe run manifests/fashion-mlp.json");
}

static void print_page(const char *command) {
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (!strcmp(pages[i].command, command)) fputs(pages[i].text, stdout);
    fputs(exit_codes, stdout);
}

int command_help(int argc, char **argv) {
    const struct flag flags[] = {{.name = NULL}};
    struct arguments arguments;
    struct error err = {0};
    int code = arguments_read(argc, argv, flags, &arguments, &err);
    const char *topic = NULL;
    bool has_topic = !code && arguments.words.count > 0;
    if (has_topic) code = arguments_only_word(&arguments, "help", "", &topic, &err);
    if (!code && topic && !command_find(topic, &err)) code = EXIT_USAGE;
    if (code)
        command_print_error(&err);
    else if (topic)
        print_page(topic);
    else
        print_overview();
    arguments_finish(&arguments);
    return code;
}
