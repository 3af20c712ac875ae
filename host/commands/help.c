/* SPDX-License-Identifier: MIT */
/* lathe help: the pages of host/commands/help/, and the list of commands. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/embedded.h"
#include "commands/table.h"

#define EXIT_CODES "exit-codes"

static void print_page(const char *name) {
    for (const struct embedded_text *page = help_pages; page->name; page++)
        if (!strcmp(page->name, name)) fputs(page->text, stdout);
}

/* An experiment that needs no files and is there: in the present folder's manifests/,
 * where lathe is installed, or in the clone it was built in. The caller's; NULL:
 * none. */
static char *find_first_experiment(void) {
    char *bin = path_of_program(), *prefix = bin ? path_directory(bin) : NULL;
    char *clone = prefix ? path_directory(prefix) : NULL;
    const char *const above[] = {"", prefix, clone};
    const char *const below[] = {"", LATHE_MOVED_DATADIR "/lathe/", ""};
    char *found = NULL;
    for (int i = 0; !found && i < 3; i++) {
        char *name = text_make("%smanifests/blobs-mlp.json", below[i]);
        if (name && above[i]) found = path_join(above[i], name);
        free(name);
        if (!found || access(found, R_OK) == 0) continue;
        free(found);
        found = NULL;
    }
    free(clone);
    free(prefix);
    free(bin);
    return found;
}

static void print_overview(void) {
    puts("lathe trains models put together from plugins, as one JSON file says.\n"
         "\n"
         "Usage: lathe COMMAND [ARGUMENT...]\n");
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++)
        printf("  %-9s %s\n", command->name, command->summary);
    putchar('\n');
    print_page(EXIT_CODES);
    char *experiment = find_first_experiment();
    printf("\n"
           "\"lathe help COMMAND\" shows flags and examples; \"lathe --version\" the "
           "versions.\n"
           "Start with: %s%s\n",
           experiment ? "lathe run " : "lathe help run", experiment ? experiment : "");
    free(experiment);
}

int command_help(int argc, char **argv) {
    const struct flag flags[] = {{.name = NULL}};
    struct arguments arguments;
    struct error err = {0};
    int code = arguments_read(argc, argv, flags, &arguments, &err);
    const char *topic = NULL;
    bool has_topic = !code && arguments.words.count + arguments.overrides.count > 0;
    if (has_topic) code = arguments_lone_word(&arguments, "help", "", &topic, &err);
    if (!code && topic && !command_find(topic, &err)) code = EXIT_USAGE;
    if (code)
        command_print_error(&err);
    else if (!topic)
        print_overview();
    else
        print_page(topic);
    arguments_finish(&arguments);
    return code;
}
