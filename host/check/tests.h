/* SPDX-License-Identifier: MIT */
/* The tests, one or a few a file; list.c has them in their order. */
#ifndef HOST_CHECK_TESTS_H
#define HOST_CHECK_TESTS_H

#include "check/fixture.h"

/* library.c: nothing is loaded, or nothing is made */
void test_manifest(struct check *check);
void test_exports(struct check *check);
void test_calls(struct check *check);
void test_functions(struct check *check);
/* instance.c: sets check->result->answer to the kinds of data that suit a model */
void test_create(struct check *check);
void test_options(struct check *check);
void test_lifecycle(struct check *check);
/* together.c */
void test_instances(struct check *check);
void test_determinism(struct check *check);
/* process.c */
void test_process(struct check *check);
/* output.c */
void test_output(struct check *check);
/* state.c */
void test_state(struct check *check);

void test_model_gradient(struct check *check);
void test_model_slices(struct check *check);
void test_model_adding(struct check *check);
void test_model_frozen(struct check *check);
void test_model_predict(struct check *check);
void test_model_finite(struct check *check);
void test_model_describe(struct check *check);
void test_model_bind(struct check *check);
void test_optimizer_spans(struct check *check);
void test_optimizer_scale(struct check *check);
void test_optimizer_rate(struct check *check);
void test_optimizer_decay(struct check *check);
void test_optimizer_resume(struct check *check);
void test_optimizer_finite(struct check *check);
void test_dataset_order(struct check *check);
void test_dataset_threads(struct check *check);
void test_dataset_edges(struct check *check);
void test_dataset_values(struct check *check);
void test_schedule_purity(struct check *check);
void test_schedule_range(struct check *check);
void test_schedule_resume(struct check *check);
/* Shows it a few values. */
void schedule_observe_some(struct fixture *fixture, struct plugin *plugin);
void test_callback_endings(struct check *check);
void test_callback_interruptions(struct check *check);
void test_callback_orders(struct check *check);
void test_callback_resume(struct check *check);

#endif
