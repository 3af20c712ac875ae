/* SPDX-License-Identifier: MIT */
/* lathe help: the pages of host/commands/help/, and the list of commands. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/embedded.h"
#include "commands/table.h"

#define EXIT_CODES "exit-codes"

static void print_overview(void) {
    puts("lathe trains models put together from plugins, as one JSON file says.\n"
         "\n"
         "Usage: lathe COMMAND [ARGUMENT...]\n");
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++)
        printf("  %-9s %s\n", command->name, command->summary);
    puts("\n"
         "\"lathe help COMMAND\" shows flags, examples and exit codes; "
         "\"lathe --version\" the versions.\n"
         "Start with: lathe run manifests/fashion-mlp.json");
}

static void print_page(const char *name) {
    for (const struct embedded_text *page = help_pages; page->name; page++)
        if (!strcmp(page->name, name)) fputs(page->text, stdout);
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
    else if (!topic)
        print_overview();
    else
        print_page(topic), putchar('\n'), print_page(EXIT_CODES);
    arguments_finish(&arguments);
    return code;
}
