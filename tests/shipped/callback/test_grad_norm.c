/* SPDX-License-Identifier: MIT */
/* What grad-norm sends, to a socket on loopback, and that nothing it meets there stops
 * the run. */
#include "support/fake_host.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <math.h>

#include "callback/grad-norm/grad-norm.c"

struct fixture {
    struct fake_host host; /* first: a host's context is its fake */
    void *self;
    double sum, weight; /* reported */
    int server;
    int logged; /* lines */
};

static struct fixture *fixture_of(const lathe_host *host) {
    return (struct fixture *)fake_of(host);
}

static int32_t fixture_metric(const lathe_host *host, const lathe_metric *metric) {
    (void)host;
    assert_string_equal(metric->name, "grad_norm");
    return 5;
}

static void fixture_report(const lathe_host *host, int32_t metric, double sum,
                           double weight) {
    assert_int_equal(metric, 5);
    fixture_of(host)->sum += sum;
    fixture_of(host)->weight += weight;
}

static void fixture_log(const lathe_host *host, int32_t level, const char *text) {
    fixture_of(host)->logged++;
    fake_log(host, level, text);
}

/* A server on loopback; *port is its own. -1: there is no loopback of this family. */
static int listen_on(int family, int *port) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } at = {.any.sa_family = (sa_family_t)family};
    socklen_t length = sizeof at;
    if (family == AF_INET6)
        at.v6.sin6_addr = in6addr_loopback;
    else
        at.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int server = socket(family, SOCK_DGRAM, 0);
    if (server >= 0 && bind(server, &at.any, length)) {
        close(server);
        return -1;
    }
    if (server >= 0) getsockname(server, &at.any, &length);
    *port = ntohs(family == AF_INET6 ? at.v6.sin6_port : at.v4.sin_port);
    return server;
}

/* The server's port goes where %d stands in the options. */
static void begin_on(struct fixture *f, int server, int port, const char *options) {
    char text[512];
    memset(f, 0, sizeof *f);
    f->server = server;
    snprintf(text, sizeof text, options, port);
    fake_host_init(&f->host, text);
    fake_host_manifest(&f->host, "callback/grad-norm");
    f->host.table.metric = fixture_metric;
    f->host.table.report = fixture_report;
    f->host.table.log = fixture_log;
    assert_int_equal(lathe_ops_.create(&f->host.table, &f->self), LATHE_OK);
}

static void begin(struct fixture *f, const char *options) {
    int port = 0, server = listen_on(AF_INET, &port);
    assert_true(server >= 0);
    begin_on(f, server, port, options);
}

static void finish(struct fixture *f) {
    lathe_ops_.destroy(f->self);
    fake_host_finish(&f->host);
    close(f->server);
}

static void step(struct fixture *f, double norm) {
    lathe_moment at = {.size = sizeof at, .gradient_norm = norm};
    assert_int_equal(lathe_ops_.step_end(f->self, &at), LATHE_OK);
}

static void expect_datagram(struct fixture *f, const char *expected) {
    char text[512];
    struct timeval patience = {.tv_sec = 10};
    setsockopt(f->server, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ssize_t length = recv(f->server, text, sizeof text - 1, 0);
    if (length < 0) fail_msg("no datagram came; expected %s", expected);
    text[length] = 0;
    assert_string_equal(text, expected);
}

static void expect_silence(struct fixture *f) {
    char text[512];
    assert_true(recv(f->server, text, sizeof text, MSG_DONTWAIT) < 0);
}

static void every_step_is_a_gauge(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "{\"address\": \"127.0.0.1:%d\"}");
    step(&f, 0.5);
    step(&f, 1234567.25);
    step(&f, 1e-7);
    expect_datagram(&f, "lathe.gradient_norm:0.5|g");
    expect_datagram(&f, "lathe.gradient_norm:1234567.25|g");
    expect_datagram(&f, "lathe.gradient_norm:1e-07|g");
    expect_silence(&f);
    assert_true(f.weight == 3 && f.sum == 0.5 + 1234567.25 + 1e-7);
    assert_int_equal(f.logged, 0);
    finish(&f);
}

static void names_resolve_and_the_gauge_has_one_of_its_own(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "{\"address\": \"localhost:%d\", \"name\": \"a:b|c@d\\ne.f\"}");
    step(&f, 2);
    expect_datagram(&f, "a_b_c_d_e.f:2|g");
    finish(&f);
}

static void addresses_of_ipv6_are_addresses(void **state) {
    (void)state;
    int port = 0;
    const char *const options[] = {"{\"address\": \"[::1]:%d\"}",
                                   "{\"address\": \"::1:%d\"}"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct fixture f;
        int server = listen_on(AF_INET6, &port);
        if (server < 0) skip();
        begin_on(&f, server, port, options[i]);
        step(&f, 0.75);
        expect_datagram(&f, "lathe.gradient_norm:0.75|g");
        assert_int_equal(f.logged, 0);
        finish(&f);
    }
}

static void numbers_have_a_point_in_every_locale(void **state) {
    (void)state;
    struct fixture f;
    /* Whichever is installed; without any the test still shows that nothing changes. */
    const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", NULL};
    locale_t comma = (locale_t)0;
    for (int i = 0; names[i] && !comma; i++)
        comma = newlocale(LC_ALL_MASK, names[i], comma);
    locale_t mine = comma ? comma : duplocale(LC_GLOBAL_LOCALE);
    locale_t before = uselocale(mine);
    begin(&f, "{\"address\": \"127.0.0.1:%d\"}");
    step(&f, 0.25);
    assert_true(uselocale((locale_t)0) == mine);
    expect_datagram(&f, "lathe.gradient_norm:0.25|g");
    finish(&f);
    uselocale(before);
    freelocale(mine);
}

static void an_address_that_does_not_resolve_warns_once(void **state) {
    (void)state;
    const char *const addresses[] = {"{\"address\": \"no-such-host.invalid:%d\"}",
                                     "{\"address\": \"127.0.0.1\"}",
                                     "{\"address\": \"127.0.0.1:no-such-port\"}",
                                     "{\"address\": \"\"}",
                                     "{\"address\": \"300.0.0.1:%d\"}",
                                     "{\"address\": \"[::g]:%d\"}",
                                     "{\"address\": \":8125\"}",
                                     "{\"address\": \"[:8125\"}",
                                     "{\"address\": \"[]:8125\"}"};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        struct fixture f;
        begin(&f, addresses[i]);
        step(&f, 1);
        step(&f, 2);
        assert_int_equal(f.logged, 1);
        assert_int_equal(f.host.log_level, LATHE_LOG_WARNING);
        assert_non_null(strstr(f.host.logged, "does not resolve: nothing is sent"));
        assert_true(f.sum == 3 && f.weight == 2);
        finish(&f);
    }
}

static void nobody_need_listen(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "{\"address\": \"127.0.0.1:%d\"}");
    close(f.server);
    f.server = -1;
    for (int i = 0; i < 1000; i++) step(&f, i);
    assert_true(f.weight == 1000);
    finish(&f);
}

/* Nobody reads, and the buffers are small: most is dropped, and no step waits. */
static void a_full_socket_drops(void **state) {
    (void)state;
    struct fixture f;
    int small = 1;
    begin(&f, "{\"address\": \"127.0.0.1:%d\"}");
    setsockopt(f.server, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    setsockopt(((struct grad_norm *)f.self)->socket, SOL_SOCKET, SO_SNDBUF, &small,
               sizeof small);
    for (int i = 0; i < 20000; i++) step(&f, 0.125);
    expect_datagram(&f, "lathe.gradient_norm:0.125|g");
    finish(&f);
}

static int count_descriptors(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder)) count++;
    if (folder) closedir(folder);
    return count;
}

static void destroy_closes_the_socket(void **state) {
    (void)state;
    struct fixture f;
    int before = count_descriptors();
    begin(&f, "{\"address\": \"127.0.0.1:%d\"}");
    assert_int_equal(count_descriptors(), before + 2); /* ours, and the server's */
    finish(&f);
    assert_int_equal(count_descriptors(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_is_a_gauge),
        cmocka_unit_test(names_resolve_and_the_gauge_has_one_of_its_own),
        cmocka_unit_test(addresses_of_ipv6_are_addresses),
        cmocka_unit_test(numbers_have_a_point_in_every_locale),
        cmocka_unit_test(an_address_that_does_not_resolve_warns_once),
        cmocka_unit_test(nobody_need_listen),
        cmocka_unit_test(a_full_socket_drops),
        cmocka_unit_test(destroy_closes_the_socket),
    };
    return cmocka_run_group_tests_name("grad-norm", tests, NULL, NULL);
}
