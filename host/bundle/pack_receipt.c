/* SPDX-License-Identifier: MIT */
/* What came of a run: receipt.json and metrics.jsonl, which know no path. */
#include <stdlib.h>
#include <unistd.h>

#include "base/path.h"
#include "bundle/pack_parts.h"
#include "receipt.h"

static lathe_status take(struct pack *pack, const char *run, const char *name,
                         struct error *err) {
    char *source = path_join(run, name);
    if (source && access(source, F_OK)) {
        free(source);
        return LATHE_OK;
    }
    struct pack_item *item = source ? pack_add(pack, text_copy(name)) : NULL;
    if (!item) {
        free(source);
        return fail(err, LATHE_ENOMEM, "no memory to pack");
    }
    item->source = source;
    return pack_hash(item, err);
}

lathe_status pack_take_receipt(struct pack *pack, const char *run, struct error *err) {
    struct json *receipt = NULL;
    struct error fault = {0};
    lathe_status status = receipt_read(run, &receipt, &fault);
    json_close(receipt);
    if (status == LATHE_ENOTFOUND) return LATHE_OK; /* it has not ended */
    if (status) {
        *err = fault;
        return status;
    }
    status = take(pack, run, BUNDLE_RECEIPT, err);
    return status ? status : take(pack, run, BUNDLE_RECORDS, err);
}
