/* SPDX-License-Identifier: MIT */
/* What a run was made of and what came out of it, in digests: receipt.json in its
 * directory, by which somebody else can tell that theirs is the same. It is made of
 * what the directory holds and of nothing else, so it can be made again, also of a run
 * that nobody could note the end of. What is in it: manifests/README.md. Comparing two
 * is somebody else's. */
#ifndef HOST_RECEIPT_H
#define HOST_RECEIPT_H

#include "base/digest.h"
#include "json.h"
#include "rundir.h"

#define RECEIPT_FILE "receipt.json"
#define RECEIPT_FORMAT "lathe.receipt/1"
#define RECEIPT_EARLIER "earlier"          /* as in environment_past.h */
#define RECEIPT_PACKED "packed_experiment" /* SHA-256 of a bundle's experiment.json */

/* Of the run in a directory, as it is now; *receipt is the caller's. LATHE_ENOTFOUND:
 * it holds none; LATHE_EDATA: one of its files cannot be understood. */
lathe_status receipt_make(const char *run, struct json **receipt, struct error *err);
/* Once everything else is written. Without a directory nothing is done. */
lathe_status receipt_write(struct rundir *rundir, struct error *err);
/* Reads the one that a directory has, and checks that it is one. LATHE_ENOTFOUND,
 * LATHE_EDATA. */
lathe_status receipt_read(const char *run, struct json **receipt, struct error *err);

/* Has it each member that is used, of the right kind? LATHE_EDATA, where being the
 * member. */
lathe_status receipt_check(const struct json *receipt, struct error *err);

/* A resolved.json without what says whose run it is: "run", "from", "origin",
 * "plugin_path". The caller's; NULL: out of memory. */
struct json *receipt_settings(const struct json *resolved);
/* Those in one number: SHA-256 of them as JSON without blanks, keys in byte order, and
 * of each text that begins with '/' what follows its last '/'. */
lathe_status receipt_digest(const struct json *resolved, char hex[DIGEST_HEX],
                            struct error *err);
/* Its member "metrics": of metrics.jsonl as it is now; the caller's. */
lathe_status receipt_metrics(const char *run, struct json **metrics, struct error *err);

#endif
