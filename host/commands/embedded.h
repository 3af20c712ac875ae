/* SPDX-License-Identifier: MIT */
/* Files that are data of the program, inside it (embed_texts.cmake). */
#ifndef HOST_COMMANDS_EMBEDDED_H
#define HOST_COMMANDS_EMBEDDED_H

struct embedded_text {
    const char *folder; /* "" at the top */
    const char *name;   /* of the file, without its suffix */
    const char *text;
};

/* Both end with a NULL name. host/commands/help/: a page per command, and what all of
 * them end with. */
extern const struct embedded_text help_pages[];
/* sdk/template/new/: of each kind of plugin ("": of all) the files that one begins as;
 * @name@ and @ident@ stand for its name, as it is and in C. */
extern const struct embedded_text plugin_templates[];

#endif
