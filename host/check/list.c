/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "check/tests.h"

#define EVERY(name, needs, summary)                                                    \
    { #name, summary, test_##name, LATHE_KIND_NONE, needs }
#define MODEL(name, summary)                                                           \
    { #name, summary, test_model_##name, LATHE_KIND_MODEL, NEEDS_INSTANCE }
#define OPTIMIZER(name, summary)                                                       \
    { #name, summary, test_optimizer_##name, LATHE_KIND_OPTIMIZER, NEEDS_INSTANCE }
#define DATASET(name, summary)                                                         \
    { #name, summary, test_dataset_##name, LATHE_KIND_DATASET, NEEDS_INSTANCE }
#define SCHEDULE(name, summary)                                                        \
    { #name, summary, test_schedule_##name, LATHE_KIND_SCHEDULE, NEEDS_INSTANCE }
#define CALLBACK(name, summary)                                                        \
    { #name, summary, test_callback_##name, LATHE_KIND_CALLBACK, NEEDS_INSTANCE }

static const struct test tests[] = {
    EVERY(manifest, NEEDS_NOTHING, "the manifest is sound and is that in the library"),
    EVERY(exports, NEEDS_LIBRARY, "the library exports one symbol and no other"),
    EVERY(calls, NEEDS_LIBRARY, "it calls nothing that is the host's business"),
    EVERY(functions, NEEDS_LIBRARY, "it loads, and every mandatory function is there"),
    EVERY(create, NEEDS_LIBRARY, "an instance can be made"),
    EVERY(options, NEEDS_INSTANCE,
          "every option is read, and at its edges taken or refused"),
    EVERY(lifecycle, NEEDS_INSTANCE,
          "made and destroyed 1000 times, no memory, descriptor or thread is left"),
    EVERY(instances, NEEDS_INSTANCE, "two instances at once do as one does alone"),
    EVERY(determinism, NEEDS_INSTANCE, "the same options and seed give the same bits"),
    EVERY(process, NEEDS_INSTANCE, "the process is left as it was found"),
    EVERY(output, NEEDS_INSTANCE, "nothing is printed on standard output"),
    EVERY(state, NEEDS_INSTANCE, "state comes back, and what is no state is refused"),
    MODEL(describe, "describe says the same each time"),
    MODEL(bind, "bind may come again with another layout"),
    MODEL(gradient, "the gradient is that of the sum of the losses"),
    MODEL(slices, "the sum over slices is the whole"),
    MODEL(adding, "gradients are overwritten or added to, as told"),
    MODEL(frozen, "frozen parameters get no gradient"),
    MODEL(predict, "predict says what evaluate does, and evaluate nothing random"),
    MODEL(finite, "large inputs leave loss and gradients finite, accuracy is 0 to 1"),
    OPTIMIZER(spans, "an update has the same bits however it is cut"),
    OPTIMIZER(scale, "gradients count times the scale of the span"),
    OPTIMIZER(rate, "the rate of the span is the rate of the update"),
    OPTIMIZER(decay, "weight decay is for the weights that decay"),
    OPTIMIZER(resume, "another instance goes on with the slots of this one"),
    OPTIMIZER(finite, "no, huge and tiny gradients leave weights finite"),
    DATASET(order, "samples do not depend on the order and grouping of reads"),
    DATASET(threads, "samples do not depend on who else is reading"),
    DATASET(edges, "the first, the last, one row, one row many times"),
    DATASET(values, "numbers are finite and categories among the classes"),
    SCHEDULE(purity, "the same progress gives the same factor"),
    SCHEDULE(range, "the factor is finite and >= 0 over every run"),
    SCHEDULE(resume, "what was saved goes on as if it had never stopped"),
    CALLBACK(endings, "a run may end for every reason"),
    CALLBACK(interruptions, "a run may be told to stop before every call"),
    CALLBACK(orders, "a run may be left at any place, or be no run at all"),
    CALLBACK(resume, "a run that goes on ends as one that never stopped"),
};

const struct test *check_test_at(size_t index) {
    return index < sizeof tests / sizeof *tests ? &tests[index] : NULL;
}

const struct test *check_test_named(const char *name) {
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (!strcmp(tests[i].name, name)) return &tests[i];
    return NULL;
}
