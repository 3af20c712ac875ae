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
     "  --plugin-path DIR  look for plugins here first; may be given again\n"
     "  --json             print every record as a line of JSON; the last one is\n"
     "                     {\"event\":\"end\",...}\n"
     "  --quiet            show nothing but warnings and errors\n"
     "  -v                 show more of what happens\n"
     "\n"
     "Ctrl-C and SIGTERM end the run after the step in hand; a second Ctrl-C ends it "
     "at\n"
     "once.\n"
     "\n"
     "Examples\n"
     "  lathe run manifests/fashion-mlp.json\n"
     "  lathe run manifests/fashion-mlp.json optimizer.lr=0.01 train.until=3ep\n"
     "  lathe run my.json callbacks.early-stopping.patience=5 'model.hidden=[64, 64]'\n"
     "  lathe run my.json 'callbacks=[]' --json >records.jsonl\n"},
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
    "  130  told to stop by Ctrl-C\n";

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
