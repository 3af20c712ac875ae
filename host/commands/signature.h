/* SPDX-License-Identifier: MIT */
/* Who signed a bundle, and what the user's policy makes of it. */
#ifndef HOST_COMMANDS_SIGNATURE_H
#define HOST_COMMANDS_SIGNATURE_H

#include "bundle/intake.h"
#include "keys.h"

struct signature {
    struct keys *keys;
    struct keys_check check;
    enum keys_decision decision;
    struct error reason; /* why it is not simply accepted, or would not be */
};

/* Looks at the raw bytes of a bundle that was opened and not begun. `key`: only this
 * one counts, and it has to have signed; NULL: the user's. For signature_finish, also
 * after a failure, which is that of reading keys: LATHE_EDATA, LATHE_EINVAL,
 * LATHE_EPERM. */
lathe_status signature_look(const struct intake *intake, const char *key,
                            struct signature *signature, struct error *err);
/* The same of one in the store, for the user's keys. */
lathe_status signature_look_unpacked(const char *folder, struct signature *signature,
                                     struct error *err);
/* "by anna (key 9242A6EB647F81BA, trusted): lathe bundle first" */
void signature_add_line(const struct signature *signature, struct text *text);
/* {"verdict": "trusted", "key": "9242…", "name": "anna", "comment": "…"} */
struct json *signature_json(const struct signature *signature);
void signature_finish(struct signature *signature);

#endif
