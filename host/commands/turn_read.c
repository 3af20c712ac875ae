/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/duration.h"
#include "commands/turn.h"

static int read_time_limit(struct turn_flags *common, struct error *err) {
    struct duration limit;
    struct error why = {0};
    if (!common->time_limit) return 0;
    if (duration_parse(common->time_limit, &limit, &why) != LATHE_OK ||
        limit.unit != DURATION_SECONDS || limit.amount <= 0) {
        fail(err, LATHE_EINVAL, "\"%s\" is no time limit", common->time_limit);
        error_where(err, "--time-limit");
        error_help(err, "for example --time-limit 2h, 30min or 45s");
        return EXIT_USAGE;
    }
    common->turn.time_limit = limit.amount;
    return 0;
}

int turn_read(int argc, char **argv, const struct flag *flags,
              struct turn_flags *common, struct arguments *arguments,
              lathe_session_options *options, struct error *err) {
    for (int i = 1; i < argc; i++) /* also where an argument before it is wrong */
        if (!strcmp(argv[i], "--json")) common->turn.is_json = 1;
    int code = arguments_read(argc, argv, flags, arguments, err);
    if (!code) code = read_time_limit(common, err);
    options->overrides = arguments->overrides.items;
    options->plugin_paths = common->plugin_paths.items;
    options->flags = common->allows_change ? LATHE_ALLOW_CHANGE : 0;
    return code;
}
