/* SPDX-License-Identifier: MIT */
/* What was at work on a run before it went on, where that is not what is at work now:
 * the member "earlier" of environment.json. A run that went on from step 120 with other
 * data has {"step": 120, "plugins": [], "data": [{…}]} there: that was at work up to
 * that step. Reads JSON that anybody may have changed, and believes what it can. */
#ifndef HOST_ENVIRONMENT_PAST_H
#define HOST_ENVIRONMENT_PAST_H

#include "json.h"

#define ENVIRONMENT_EARLIER "earlier"

struct past {
    int64_t step;
    struct json *kept;    /* of "earlier", what ended before this step */
    struct json *plugins; /* at work up to this step */
    struct json *data;    /* the same, with digests; NULL: out of memory */
};

/* `environment`: environment.json as it was, NULL: nothing was made before. What is
 * noted of after this step is of a past that was given up. */
void past_open(struct past *past, const struct json *environment, int64_t step);
void past_close(struct past *past);
/* The digest that the file of this path had; "": nobody knows. */
const char *past_digest(const struct past *past, const char *path);
/* Appends to `data` what was at work and is not among it, neither by path nor by
 * digest. */
struct json *past_add_rest(const struct past *past, struct json *data);
/* The member, of what is at work now; empty: nothing is other than it was. Data is, as
 * long as its digest is not known. NULL: out of memory. */
struct json *past_list(const struct past *past, const struct json *plugins,
                       const struct json *data);

#endif
