# SPDX-License-Identifier: MIT
# A plugin is built outside of the tree, from an installed one that was moved, in an empty
# directory: with CMake, with pkg-config and make, with the compiler alone, and in C++. The
# installed program finds what it was shipped with, and runs what was built. A program that
# embeds the library finds it both ways.
set -u
if [[ -n $SANITIZE ]]; then
    echo "a sanitizer leaves its own functions open, which -z defs forbids"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
faults=0 count=0
unset LATHE_PLUGIN_PATH

complain() {
    printf '%s\n' "$*" >&2
    faults=$((faults + 1))
}

DESTDIR=$scratch/moved cmake --install "$BUILD" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" >&2; exit 1; }
prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$BUILD/CMakeCache.txt")
prefix=$scratch/moved$prefix
pkgconfig=$(dirname "$(find "$prefix" -name lathe-plugin.pc)")
export PKG_CONFIG_PATH=$pkgconfig
lathe=$prefix/bin/lathe

# block FILE LANGUAGE PATTERN: the first fenced block of that language with it
block() {
    awk -v fence="^\`\`\`$2\$" -v wanted="$3" '
        /^```$/ && on { on = 0; if (text ~ wanted) { printf "%s", text; exit } }
        on { text = text $0 "\n" }
        $0 ~ fence { on = 1; text = "" }' "$1"
}

# plugin FOLDER: a callback of C and its manifest
plugin() {
    mkdir "$1"
    cat >"$1/count-steps.c" <<'END'
#include <lathe/callback.h>
#include <stdlib.h>

struct count_steps {
    const lathe_host *host;
    int64_t count;
};

static lathe_status make(const lathe_host *host, void **self) {
    struct count_steps *steps = calloc(1, sizeof *steps);
    if (!steps) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    steps->host = host;
    *self = steps;
    return LATHE_OK;
}

static lathe_status step_end(void *self, const lathe_moment *at) {
    struct count_steps *steps = self;
    (void)at;
    steps->count++;
    return LATHE_OK;
}

static lathe_status run_end(void *self, const lathe_moment *at) {
    const struct count_steps *steps = self;
    (void)at;
    lathe_log(steps->host, LATHE_LOG_WARNING, "%lld steps", (long long)steps->count);
    return LATHE_OK;
}

LATHE_CALLBACK(.create = make, .destroy = free, .step_end = step_end, .run_end = run_end);
LATHE_MANIFEST("plugin.json");
END
    cat >"$1/plugin.json" <<'END'
{ "lathe": 1, "kind": "callback", "name": "count-steps", "version": "1.0.0",
  "license": "MIT", "summary": "Count the steps", "library": "count-steps.so" }
END
}

# alone NAME FOLDER: the library that was built there works, without its manifest
alone() {
    mkdir -p "$scratch/alone-$1"
    cp "$2/count-steps.so" "$scratch/alone-$1/"
    runs "alone-$1" "$scratch/alone-$1"
    (($(readelf -SW "$2/count-steps.so" | grep -c '\.note\.lathe') == 1)) ||
        complain "$1: its manifest is not in it, or twice"
}

# runs NAME FOLDER: the plugin that was built there works, and exports one symbol
runs() {
    local library=$2/count-steps.so symbols
    "$lathe" run "$scratch/experiment.json" --run-dir "$scratch/run-$1" --plugin-path "$2" \
        >"$scratch/stdout" 2>"$scratch/stderr" ||
        { complain "$1: $(<"$scratch/stderr")"; return; }
    grep -q "5 steps" "$scratch/stderr" || complain "$1: no word of the plugin"
    symbols=$(nm -D --defined-only "$library" | sed 's/.* //')
    [[ $symbols == lathe_plugin_v1 ]] || complain "$1: exports $symbols"
    ! readelf -d "$library" | grep -q 'NEEDED.*lathe' || complain "$1: it links lathe"
    readelf -d "$library" | grep -q NOW || complain "$1: symbols are not bound at once"
}

cat >"$scratch/experiment.json" <<'END'
{ "lathe": 1, "seed": 1, "data": { "train": { "use": "blobs", "samples": 40 } },
  "model": { "use": "mlp", "hidden": [] }, "optimizer": { "use": "sgd", "lr": 0.1 },
  "train": { "until": "5step", "batch": 8 }, "callbacks": [ { "use": "count-steps" } ] }
END

# ---- what is installed ----

"$lathe" plugins >"$scratch/stdout" 2>"$scratch/stderr" ||
    complain "plugins: $(<"$scratch/stderr")"
grep -q '^model *mlp ' "$scratch/stdout" || complain "the shipped plugins are not found"
! grep -q refused "$scratch/stdout" || complain "$(grep refused "$scratch/stdout")"
! grep -rIl "$SOURCE\|$BUILD" "$prefix" | grep . ||
    complain "these installed files name the folder they were made in"

if command -v scdoc >/dev/null; then
    manual=$(find "$prefix" -name lathe.1)
    for command in $("$lathe" help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
        grep -q "^.SS lathe $command" "$manual" || complain "lathe.1 has no lathe $command"
    done
    [[ -s $(find "$prefix" -name lathe-plugin.7) ]] || complain "no lathe-plugin.7"
fi

# ---- the experiments ----

start=$(cd "$scratch" && "$lathe" | sed -n 's/^Start with: lathe run //p')
[[ $start == "$prefix"/* && -f $start ]] || complain "it says to start with \"$start\""
manifests=$(pkg-config --variable=manifests lathe-plugin)
for experiment in "$start" "$manifests"/*.json; do
    "$lathe" validate "$experiment" >"$scratch/log" 2>&1
    code=$?
    if ((code == 66)) && grep -q '/usr/share/datasets/fashion-mnist/' "$scratch/log"; then
        grep -rq 'Debian package `dataset-fashion-mnist`' "$prefix"/share/doc/lathe/README.md ||
            complain "$experiment needs data, and README does not say from where"
    elif ((code)); then
        complain "$experiment: $(<"$scratch/log")"
    else
        "$lathe" run "$experiment" train.until=1step 'expect={}' --quiet \
            --run-dir "$scratch/run-${experiment##*/}-$((++count))" >"$scratch/log" 2>&1 ||
            complain "$experiment: $(<"$scratch/log")"
    fi
done
((count > 2)) || complain "hardly an experiment is installed"

# ---- the documents ----

mapfile -t documents < <(find "$prefix" -name '*.md' | sort)
((${#documents[@]} > 3)) || complain "hardly a document is installed"
for document in "${documents[@]}"; do
    while read -r link; do
        [[ -z $link || -e $(dirname "$document")/$link ]] ||
            complain "${document#"$prefix"/} links to $link, which is not there"
    done < <(grep -oE '\]\([^):#]*' "$document" | sed 's/^](//')
    while IFS='#' read -r link part; do
        [[ -n $link ]] && linked=$(dirname "$document")/$link || linked=$document
        sed -n 's/^##* //p' "$linked" | tr 'A-Z ' 'a-z-' | tr -d "\`.,?'" | grep -qxF "$part" ||
            complain "${document#"$prefix"/} links to $link#$part, which has no such part"
    done < <(grep -oE '\]\([^):]*#[^)]*' "$document" | sed 's/^](//')
    ! grep -nE '\./dev|sdk/(include|template)|\$PWD|build/(host|plugins/)|<!--' "$document" ||
        complain "${document#"$prefix"/} speaks of a clone"
done
! grep -rnE '(sdk|manifests)/README|sdk/template' "$prefix/include" ||
    complain "these headers speak of a clone"
doc=$prefix/share/doc/lathe
mkdir "$scratch/read"
block "$doc/README.md" json '"callbacks"' >"$scratch/read/first.json"

# The SDK's callback, by make; its loop; and both loops of the templates.
(
    set -e
    cd "$scratch/read"
    PATH=$prefix/bin:$PATH
    export LD_LIBRARY_PATH=${pkgconfig%/*}
    block "$doc/sdk.md" json loss-spike >plugin.json
    block "$doc/sdk.md" c LATHE_CALLBACK >loss-spike.c
    block "$doc/sdk.md" make all: >Makefile
    make -s
    lathe run first.json 'callbacks=[{"use":"loss-spike"}]' train.until=2step --quiet \
        --plugin-path . --run-dir made
    block "$doc/sdk.md" c adagrad >loss-spike.c
    make -s # it needs -lm
    shown=$(block "$doc/sdk.md" sh 'loop.c')
    [[ $shown == *'./loop first.json first-run' ]]
    eval "$shown train.until=2step" >records
    grep -q '"reason":"completed"' records
    eval "$(block "$prefix/share/lathe/template/README.md" sh 'cmake')"
    eval "$(block "$prefix/share/lathe/template/README.md" sh './build/distil')" >records
    grep -q '"reason":"completed"' records
) >"$scratch/log" 2>&1
# Not "||", where set -e does nothing.
(($? == 0)) || complain "as the documents say: $(tail -n 20 "$scratch/log")"

# ---- CMake ----

plugin "$scratch/cmake"
cat >"$scratch/cmake/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(count-steps C)
find_package(lathe REQUIRED)
lathe_add_plugin(count-steps SOURCES count-steps.c)
END
cmake -S "$scratch/cmake" -B "$scratch/cmake/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_FLAGS='-Wall -Wextra -Wpedantic -Werror' >"$scratch/log" 2>&1 &&
    cmake --build "$scratch/cmake/build" >>"$scratch/log" 2>&1 ||
    complain "CMake: $(<"$scratch/log")"
runs CMake "$scratch/cmake/build/count-steps"

alone CMake "$scratch/cmake/build/count-steps"

# ---- pkg-config and make ----

plugin "$scratch/make"
sed 's/^    /\t/' >"$scratch/make/Makefile" <<'END'
CFLAGS = -O2 -Wall -Werror $(shell pkg-config --cflags lathe-plugin)
LDFLAGS = $(shell pkg-config --libs lathe-plugin)
%.so: %.c
    $(CC) $(CFLAGS) $< -o $@ $(LDFLAGS)
END
make -C "$scratch/make" count-steps.so >"$scratch/log" 2>&1 ||
    complain "make: $(<"$scratch/log")"
runs make "$scratch/make"
alone make "$scratch/make"

# ---- the compiler alone ----

plugin "$scratch/cc"
(cd "$scratch/cc" && "$CC" -shared -fPIC -Wl,-z,now -I "$prefix/include" count-steps.c \
    -o count-steps.so -fvisibility=hidden) >"$scratch/log" 2>&1 ||
    complain "cc: $(<"$scratch/log")"
runs cc "$scratch/cc"
alone cc "$scratch/cc"

# ---- a program with a session of its own ----

mkdir "$scratch/embed"
cat >"$scratch/embed/main.c" <<'END'
#include <lathe/session.h>
#include <stdio.h>

int main(int count, char **words) {
    lathe_session_options options = {.size = sizeof options, .flags = LATHE_QUIET};
    lathe_error error = {.size = sizeof error};
    lathe_session *session = NULL;
    const char *const paths[] = {words[2], NULL};
    if (count < 3) return 64;
    options.experiment = words[1];
    options.plugin_paths = paths;
    if (lathe_open(&options, &session, &error) != LATHE_OK) return puts(error.what), 1;
    lathe_status status = lathe_run(session);
    printf("step %lld\n", (long long)lathe_now(session)->step);
    lathe_close(session);
    return status != LATHE_OK;
}
END
cat >"$scratch/embed/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(embed C)
find_package(lathe REQUIRED)
add_executable(with-cmake main.c)
target_link_libraries(with-cmake lathe::lathe)
END
sed 's/, "callbacks.*/ }/' "$scratch/experiment.json" >"$scratch/plain.json"
plugins=$(dirname "$(dirname "$(find "$prefix" -name mlp -type d)")")
(cd "$scratch/embed" && cmake -B build -DCMAKE_PREFIX_PATH="$prefix" &&
    cmake --build build && cp build/with-cmake . &&
    # shellcheck disable=SC2046
    "$CC" main.c -o with-pkg-config $(pkg-config --cflags --libs lathe)) \
    >"$scratch/log" 2>&1 || complain "embedding: $(<"$scratch/log")"
for program in with-cmake with-pkg-config; do
    said=$(LD_LIBRARY_PATH=$(dirname "$pkgconfig") "$scratch/embed/$program" \
        "$scratch/plain.json" "$plugins" 2>&1)
    [[ $said == "step 5" ]] || complain "$program: $said"
done

exit $((faults > 0))
