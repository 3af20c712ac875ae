/* SPDX-License-Identifier: MIT */
/* Draft: what a loop of one's own does with the micro-batch that was just read, and
 * with a model that need not be in training; together, sessions that teach one another
 * (distil.c of the templates). These are functions of liblathe, like those of
 * session.h, for programs and not for plugins. They fail with LATHE_EINVAL and change
 * nothing where they are called out of place, or a name, a type or a shape is not as
 * the session has it. All are [loop]. */
#ifndef LATHE_DRAFT_FEED_H
#define LATHE_DRAFT_FEED_H

#include "../session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A field of the micro-batch, by its name, all rows: between lathe_batch_begin and
 * lathe_forward, which learns from what is then in it. Its data may be written, and is
 * borrowed until lathe_forward. */
LATHE_EXPORT lathe_status lathe_batch_field(lathe_session *session, const char *name,
                                            lathe_tensor *field);
/* Runs rows through the model with its weights of now, in LATHE_PREDICT: `input` stands
 * for the data's field of that name, and the other fields have no data; `into` gets the
 * same rows of an output. Any number of rows, at any time but between lathe_forward and
 * lathe_backward. Nothing is trained or counted, and no callback is called. Fails as
 * the model does; `into` then holds anything. */
LATHE_EXPORT lathe_status lathe_predict_rows(lathe_session *session, const char *field,
                                             const lathe_tensor *input,
                                             const char *output,
                                             const lathe_tensor *into);

#ifdef __cplusplus
}
#endif
#endif
