/* SPDX-License-Identifier: MIT */
#include "check/stand_ins.h"

#define HEAD(kind, name)                                                               \
    "{\"lathe\": 1, \"kind\": \"" kind "\", \"name\": \"" name                         \
    "\", \"version\": \"1.0.0\","

static const lathe_linked_plugin data = {
    sizeof data, 0, &check_data_plugin,
    HEAD("dataset", "check-data") "\"options\": {"
                                  "\"shape\": {\"enum\": [\"classes\", \"numbers\", "
                                  "\"image\", \"tokens\","
                                  " \"scalar\"], \"default\": \"classes\"},"
                                  "\"rows\": {\"type\": \"integer\", \"minimum\": 1, "
                                  "\"default\": 23}}}"};
static const lathe_linked_plugin model = {
    sizeof model, 0, &check_model_plugin,
    HEAD("model", "check-model") "\"metrics\": [{\"name\": \"accuracy\","
                                 " \"higher_is_better\": true}], \"options\": {"
                                 "\"nan_after\": {\"type\": \"integer\", \"minimum\": "
                                 "0, \"optional\": true}}}"};
static const lathe_linked_plugin optimizer = {
    sizeof optimizer, 0, &check_optimizer_plugin,
    HEAD("optimizer",
         "check-optimizer") "\"options\": {"
                            "\"lr\": {\"type\": \"number\", \"minimum\": 0}}}"};
static const lathe_linked_plugin callback = {
    sizeof callback, 0, &check_callback_plugin,
    HEAD("callback",
         "check-callback") "\"options\": {"
                           "\"point\": {\"type\": \"string\", \"default\": \"\"},"
                           "\"act\": {\"enum\": [\"fail\", \"stop\", \"save\", "
                           "\"validate\"],"
                           " \"default\": \"fail\"},"
                           "\"at\": {\"type\": \"integer\", \"minimum\": 0, "
                           "\"default\": 0}}}"};

const lathe_linked_plugin *const *stand_ins(void) {
    static const lathe_linked_plugin *const list[] = {&data, &model, &optimizer,
                                                      &callback, NULL};
    return list;
}
