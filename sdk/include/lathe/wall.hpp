/* SPDX-License-Identifier: MIT */
/* For plugins in C++17: a class whose methods are the functions of a plugin, and a wall
 * that no exception passes. The host is C: an exception that left a plugin would end the
 * program. Here it becomes a failure of that plugin, with what() as its words.
 *
 *     struct counter : lathe::instance {
 *         using instance::instance;
 *         lathe_status step_end(const lathe_moment *at) { … }
 *     };
 *     using wall = lathe::wall<counter>;
 *     LATHE_CALLBACK(o.create = wall::create; o.destroy = wall::destroy;
 *                    o.step_end = wall::call<&counter::step_end>);
 *
 * Functions that return no status (a schedule's factor) stand outside of it: what they
 * throw ends the program. */
#ifndef LATHE_WALL_HPP
#define LATHE_WALL_HPP

#include <exception>
#include <new>

#include "host.h"

namespace lathe {

/* What every instance has. A constructor of one's own takes the host and hands it on; it
 * may read options, and throw. */
struct instance {
    const lathe_host *host;
    explicit instance(const lathe_host *its_host) : host(its_host) {}
};

/* The exception at hand as a status, its words told to the host. For catch (...). */
inline lathe_status failure(const lathe_host *host) noexcept {
    try {
        throw;
    } catch (const std::bad_alloc &) {
        return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    } catch (const std::exception &exception) {
        return lathe_fail(host, LATHE_EPLUGIN, "%s", exception.what());
    } catch (...) {
        return lathe_fail(host, LATHE_EPLUGIN,
                          "an exception that is no std::exception was thrown");
    }
}

template <auto method> struct caller;

template <class Type, class... Arguments, lathe_status (Type::*method)(Arguments...)>
struct caller<method> {
    static lathe_status call(void *self, Arguments... arguments) noexcept {
        Type *instance = static_cast<Type *>(self);
        try {
            return (instance->*method)(arguments...);
        } catch (...) {
            return failure(instance->host);
        }
    }
};

template <class Type> struct wall {
    static lathe_status create(const lathe_host *host, void **self) noexcept {
        try {
            *self = new Type(host);
            return LATHE_OK;
        } catch (...) {
            return failure(host);
        }
    }
    static void destroy(void *self) noexcept {
        delete static_cast<Type *>(self);
    }
    template <auto method> static constexpr auto call = &caller<method>::call;
};

} // namespace lathe

#endif
