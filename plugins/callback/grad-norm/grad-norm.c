/* SPDX-License-Identifier: MIT */
/* Sends the gradient norm of every step to a StatsD server, a gauge over UDP, and
 * reports it as a metric. It never waits: what the socket does not take is lost. */
#define _POSIX_C_SOURCE 200809L
#include <lathe/callback.h>
#include <locale.h>
#include <netdb.h>
#include <stdlib.h>
#include <unistd.h>

struct grad_norm {
    const lathe_host *host;
    int32_t metric;
    struct addrinfo *found, *to; /* to: the one that is used */
    int socket;                  /* -1: the address does not resolve */
    locale_t c;      /* numbers have a point, whatever the program's locale */
    char gauge[256]; /* the option "name", without what StatsD reads as more */
};

/* Of a name's addresses one of IPv4 is taken first: most servers have no other. */
static int open_socket(struct grad_norm *g, const char *address) {
    const struct addrinfo want = {.ai_socktype = SOCK_DGRAM};
    const char *port = strrchr(address, ':');
    char name[256];
    if (!port) return -1;
    const int in = *address == '[' && port[-1] == ']'; /* [::1]:8125 */
    snprintf(name, sizeof name, "%.*s", (int)(port - address) - 2 * in, address + in);
    if (getaddrinfo(name, port + 1, &want, &g->found)) return -1;
    for (g->to = g->found; g->to->ai_next && g->to->ai_family != AF_INET;)
        g->to = g->to->ai_next;
    return socket(g->to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static void destroy(void *self) {
    struct grad_norm *g = self;
    if (g->socket >= 0) close(g->socket);
    if (g->found) freeaddrinfo(g->found);
    if (g->c) freelocale(g->c);
    free(g);
}

static lathe_status create(const lathe_host *host, void **self) {
    const lathe_metric metric = {.size = sizeof metric, .name = "grad_norm"};
    const char *address = lathe_string(host, "address");
    struct grad_norm *g = calloc(1, sizeof *g);
    if (!g) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    g->host = host;
    g->metric = host->metric(host, &metric);
    g->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    snprintf(g->gauge, sizeof g->gauge, "%s", lathe_string(host, "name"));
    for (char *at = g->gauge; (at = strpbrk(at, ":|@\n")) != NULL;) *at = '_';
    if ((g->socket = open_socket(g, address)) < 0)
        lathe_log(host, LATHE_LOG_WARNING,
                  "address \"%s\" does not resolve: nothing is sent", address);
    *self = g;
    return LATHE_OK;
}

static lathe_status step_end(void *self, const lathe_moment *at) {
    struct grad_norm *g = self;
    char line[320];
    g->host->report(g->host, g->metric, at->gradient_norm, 1);
    if (g->socket < 0) return LATHE_OK;
    locale_t before = uselocale(g->c);
    int length = snprintf(line, sizeof line, "%s:%.9g|g", g->gauge, at->gradient_norm);
    uselocale(before);
    (void)!sendto(g->socket, line, (size_t)length, MSG_DONTWAIT, g->to->ai_addr,
                  g->to->ai_addrlen);
    return LATHE_OK;
}

LATHE_CALLBACK(.create = create, .destroy = destroy, .step_end = step_end);
