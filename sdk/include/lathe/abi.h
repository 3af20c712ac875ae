/* SPDX-License-Identifier: MIT */
/* The words both sides of the wall share: status codes, kinds, the one exported symbol.
 *
 * A plugin is a shared object that exports one constant, `lathe_plugin_v1`, which names
 * its kind and points at that kind's table of functions. Nothing in this header ever
 * changes meaning; things are only added (the SDK's README has the growth rules).
 *
 * Conventions of every header in this directory:
 * - Each struct that crosses the wall starts with `uint32_t size`, set by whoever
 *   defines it. A reader uses a member only if LATHE_COVERS says that `size` reaches
 *   it.
 * - Strings are UTF-8, ended by NUL. Pointers are borrowed unless a comment says
 *   otherwise.
 * - Every function carries one thread tag:
 *     [load]  one thread, and no pass is running: create, describe, bind, load, destroy
 *     [loop]  the thread that turns the loop
 *     [work]  any worker thread, a different one each time, but never two at once for
 *             one instance
 *     [any]   several threads at once on one instance
 *   A function tagged [work] or [any] may call only host services tagged [any]. */
#ifndef LATHE_ABI_H
#define LATHE_ABI_H

#include <stddef.h>
#include <stdint.h>

/* The ABI's major version is in the name of the exported symbol; this is its minor. */
#define LATHE_ABI_MINOR 0u

/* The lowest minor a plugin can live with; one that cannot do without 1.3 is compiled
 * with -DLATHE_NEEDS=3u. */
#ifndef LATHE_NEEDS
#define LATHE_NEEDS 0u
#endif

/* 0: done. > 0: a normal outcome. < 0: a failure, one code per exit status of the
 * host. */
typedef int32_t lathe_status;
#define LATHE_OK 0
#define LATHE_STOP 1         /* a callback: end the run after this step */
#define LATHE_END 2          /* there is no more of what was asked for */
#define LATHE_EINVAL (-1)    /* the experiment or a manifest is wrong      exit 78 */
#define LATHE_ENOMEM (-2)    /* out of memory, threads or descriptors      exit 71 */
#define LATHE_EIO (-3)       /* a read or a write failed                   exit 74 */
#define LATHE_EDATA (-4)     /* data, a checkpoint or a bundle is bad      exit 65 */
#define LATHE_EPLUGIN (-5)   /* a plugin, or the host itself, failed       exit 70 */
#define LATHE_ENOTFOUND (-6) /* a file is not there                        exit 66 */
#define LATHE_ECREATE (-7)   /* a file cannot be created                   exit 73 */
#define LATHE_EPERM (-8)     /* permission, ownership or a signature       exit 77 */
#define LATHE_EMISSING (-9)  /* a plugin is missing or was refused         exit 69 */
#define LATHE_EGATE (-10)    /* diverged, or an `expect` is not met         exit 1  */

/* What a plugin is. 0 is never valid. */
#define LATHE_KIND_NONE 0u
#define LATHE_KIND_DATASET 1u
#define LATHE_KIND_MODEL 2u
#define LATHE_KIND_OPTIMIZER 3u
#define LATHE_KIND_SCHEDULE 4u
#define LATHE_KIND_CALLBACK 5u
#define LATHE_KIND_COMM 6u

struct lathe_host;
struct lathe_writer;
struct lathe_reader;

/* The exported constant. */
typedef struct lathe_plugin {
    uint32_t size;   /* sizeof(lathe_plugin) in the headers it was compiled with */
    uint32_t kind;   /* LATHE_KIND_* */
    uint32_t built;  /* LATHE_ABI_MINOR of those headers; information, never a reason */
    uint32_t needs;  /* lowest minor the plugin can live with */
    const void *ops; /* const lathe_<kind>_ops *, whose own size comes first */
} lathe_plugin;
#define LATHE_PLUGIN_SIZE_1_0 24u

/* How every lathe_<kind>_ops begins. `size` and `flags` apart, only `create` is
 * mandatory.
 *
 * create   Makes one instance; options are already checked, read them through the host.
 *          Puts it in *self, owned by the plugin until destroy. On failure *self is not
 *          touched and the status is what lathe_fail returned. [load]
 * destroy  Frees an instance. NULL: nothing to free; `free` will do where that is all.
 *          [load]
 * save     Writes the state that cannot be had again from the options, in a format of
 *          the plugin's own. NULL: no state. Fails with the writer's status. [loop]
 * load     Takes state that `save` wrote. State that is empty, cut short or foreign is
 *          refused with LATHE_EDATA and leaves the instance as it was. [load]
 * extension
 *          The table named `id` ("com.vendor.x/1"), borrowed until destroy, or NULL
 *          when the name is unknown. NULL function: no extensions. [load] */
#define LATHE_OPS_HEAD                                                                 \
    uint32_t size, flags;                                                              \
    lathe_status (*create)(const struct lathe_host *host, void **self);                \
    void (*destroy)(void *self);                                                       \
    lathe_status (*save)(void *self, const struct lathe_writer *to);                   \
    lathe_status (*load)(void *self, const struct lathe_reader *from);                 \
    const void *(*extension)(void *self, const char *id)

typedef struct lathe_any_ops {
    LATHE_OPS_HEAD;
} lathe_any_ops;
#define LATHE_ANY_OPS_SIZE_1_0 48u

/* Does *p, of that type, reach as far as the member? */
#define LATHE_COVERS(p, type, member)                                                  \
    ((p)->size >= offsetof(type, member) + sizeof(((type *)0)->member))

#if defined(__GNUC__)
#define LATHE_EXPORT __attribute__((visibility("default")))
#else
#define LATHE_EXPORT
#endif

/* The exported name. Another one lets several plugins be linked into one program. */
#ifndef LATHE_ENTRY
#define LATHE_ENTRY lathe_plugin_v1
#endif

/* LATHE_PLUGIN_ fills the table and exports it; use it through LATHE_CALLBACK and
 * friends. A function of the wrong type is a compile error in both languages.
 *     C11    LATHE_CALLBACK(.create = create, .step_end = f);
 *     C++17  LATHE_CALLBACK(o.create = create; o.step_end = f); */
#ifdef __cplusplus
#define LATHE_PLUGIN_(kind_, type, ...)                                                \
    namespace {                                                                        \
    constexpr type lathe_fill_() {                                                     \
        type o{};                                                                      \
        o.size = sizeof(type);                                                         \
        __VA_ARGS__;                                                                   \
        return o;                                                                      \
    }                                                                                  \
    constexpr type lathe_ops_ = lathe_fill_();                                         \
    }                                                                                  \
    extern "C" {                                                                       \
    LATHE_EXPORT extern const lathe_plugin LATHE_ENTRY;                                \
    const lathe_plugin LATHE_ENTRY = {sizeof(lathe_plugin), kind_, LATHE_ABI_MINOR,    \
                                      LATHE_NEEDS, &lathe_ops_};                       \
    }                                                                                  \
    static_assert(sizeof(type) % 8 == 0, "ABI structs are multiples of 8")
#else
#if defined(__clang__)
#define LATHE_STRICT_                                                                  \
    _Pragma("clang diagnostic push")                                                   \
        _Pragma("clang diagnostic error \"-Wincompatible-function-pointer-types\"")
#define LATHE_RELAX_ _Pragma("clang diagnostic pop")
#elif defined(__GNUC__)
#define LATHE_STRICT_                                                                  \
    _Pragma("GCC diagnostic push")                                                     \
        _Pragma("GCC diagnostic error \"-Wincompatible-pointer-types\"")
#define LATHE_RELAX_ _Pragma("GCC diagnostic pop")
#else
#define LATHE_STRICT_
#define LATHE_RELAX_
#endif
#define LATHE_PLUGIN_(kind_, type, ...)                                                \
    LATHE_STRICT_ static const type lathe_ops_ = {.size = sizeof(type), __VA_ARGS__};  \
    LATHE_RELAX_ extern LATHE_EXPORT const lathe_plugin LATHE_ENTRY;                   \
    const lathe_plugin LATHE_ENTRY = {sizeof(lathe_plugin), kind_, LATHE_ABI_MINOR,    \
                                      LATHE_NEEDS, &lathe_ops_};                       \
    _Static_assert(sizeof(type) % 8 == 0, "ABI structs are multiples of 8")
#endif

/* Puts the manifest into the library, which then is a plugin by itself, wherever it
 * lies. Once, in one of its files:
 *
 *     LATHE_MANIFEST("plugin.json");
 *
 * The path is relative to where the compiler runs, or to one of its -I (with -flto to
 * none). Nothing tells make that the library is made of that file too. CMake's
 * lathe_add_plugin puts the manifest in by itself, and this does nothing there.
 *
 * For other languages: it is an ELF note (System V ABI, "Note Section") in a section of
 * type SHT_NOTE that is loaded, aligned to 4: owner "lathe", type 1, and as description
 * the bytes of plugin.json as they are. The host reads the first such note, from the
 * file, without loading the library. */
#if defined(LATHE_MANIFEST_BY_BUILD) && defined(__cplusplus)
#define LATHE_MANIFEST(path) static_assert(sizeof(path) > 1, "a path")
#elif defined(LATHE_MANIFEST_BY_BUILD)
#define LATHE_MANIFEST(path) _Static_assert(sizeof(path) > 1, "a path")
#elif defined(__GNUC__)
#define LATHE_MANIFEST(path)                                                           \
    __asm__(".pushsection .note.lathe, \"a\", %note\n"                                 \
            ".balign 4\n"                                                              \
            ".long 6, 2f - 1f, 1\n" /* sizes of owner and description; type */         \
            ".asciz \"lathe\"\n"                                                       \
            ".balign 4\n"                                                              \
            "1: .incbin \"" path "\"\n"                                                \
            "2: .balign 4\n"                                                           \
            ".popsection\n")
#endif

#endif
