/* SPDX-License-Identifier: MIT */
/* Draft: communicators, which connect the ranks of a distributed run. One moves bytes
 * and never adds: the host does every sum, in its own order. Every function is
 * mandatory. */
#ifndef LATHE_DRAFT_COMM_H
#define LATHE_DRAFT_COMM_H

#include "../host.h"

typedef struct lathe_comm_ops {
    LATHE_OPS_HEAD;
    /* Which rank this process is, from 0, and of how many. Cannot fail after create.
     * [loop] */
    void (*place)(void *self, int32_t *rank, int32_t *ranks);
    /* Starts one exchange: peer p gets send_bytes[p] bytes of send[p], and recv[p] is
     * filled with recv_bytes[p] bytes from it; arrays are [ranks]. The buffers stay put
     * until done. Fails with LATHE_EIO when a peer is gone. [loop] */
    lathe_status (*exchange)(void *self, const void *const *send,
                             const int64_t *send_bytes, void *const *recv,
                             const int64_t *recv_bytes, int64_t *ticket);
    /* Makes progress without blocking and says whether the exchange is over. [loop] */
    lathe_status (*done)(void *self, int64_t ticket, int32_t *is_done);
    /* Tells every other rank to end with this exit code; does not return an answer.
     * [any] */
    void (*abort)(void *self, int32_t code);
} lathe_comm_ops;

#define LATHE_COMM(...) LATHE_PLUGIN_(LATHE_KIND_COMM, lathe_comm_ops, __VA_ARGS__)

#endif
