# SPDX-License-Identifier: MIT
# Plugins in C++17: what they throw is a failure of that plugin, in its own words, and never
# ends the program; a function of the wrong type does not compile.
set -u
[[ -z $SANITIZE ]] || { echo "skipped: what is built by hand has no sanitizers"; exit 77; }
command -v g++ >/dev/null || { echo "no g++"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
umask 022
unset LATHE_PLUGIN_PATH
faults=0

complain() {
    printf '%s\n' "$*" >&2
    faults=$((faults + 1))
}

mkdir "$scratch/thrower"
cat >"$scratch/thrower/plugin.json" <<'END'
{ "lathe": 1, "kind": "callback", "name": "thrower", "version": "1.0.0",
  "library": "thrower.so",
  "options": { "what": { "enum": ["nothing", "words", "memory", "number"], "default": "words" },
               "where": { "enum": ["create", "step", "save"], "default": "step" } } }
END
cat >"$scratch/thrower.cpp" <<'END'
#include <lathe/callback.h>
#include <lathe/wall.hpp>

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

struct thrower : lathe::instance {
    std::string what, where;
    std::vector<double> losses;

    explicit thrower(const lathe_host *its_host)
        : instance(its_host), what(lathe_string(its_host, "what")),
          where(lathe_string(its_host, "where")) {
        reach("create");
    }
    void reach(const char *place) const {
        if (where != place || what == "nothing") return;
        if (what == "words") throw std::runtime_error("thrown in " + where);
        if (what == "memory") throw std::bad_alloc();
        throw 42;
    }
    lathe_status step_end(const lathe_moment *at) {
        losses.push_back(at->loss);
        reach("step");
        return LATHE_OK;
    }
    lathe_status save(const lathe_writer *to) {
        reach("save");
        return to->write(to, losses.data(), 0);
    }
    lathe_status wrong(int) { return LATHE_OK; }
};

using wall = lathe::wall<thrower>;
LATHE_CALLBACK(o.create = wall::create; o.destroy = wall::destroy;
               o.save = wall::call<&thrower::save>;
               o.step_end = wall::call<&thrower::FUNCTION>);
END
cat >"$scratch/experiment.json" <<'END'
{ "lathe": 1, "seed": 1, "data": { "train": { "use": "blobs", "samples": 40 } },
  "model": { "use": "mlp", "hidden": [] }, "optimizer": { "use": "sgd", "lr": 0.1 },
  "train": { "until": "3step", "batch": 8 }, "callbacks": [ { "use": "thrower" } ] }
END

# build FUNCTION [COMPILER]
build() {
    "${2:-g++}" -std=c++17 -Wall -Wextra -Wpedantic -Werror -shared -fPIC \
        -fvisibility=hidden -DFUNCTION="$1" -I "$SOURCE/sdk/include" "$scratch/thrower.cpp" \
        -o "$scratch/thrower/thrower.so" -Wl,-z,defs -Wl,-z,now >"$scratch/log" 2>&1
}

# says WHAT WHERE STATUS TEXT
says() {
    rm -rf "$scratch/run"
    "$LATHE" run "$scratch/experiment.json" --run-dir "$scratch/run" --quiet \
        --plugin-path "$scratch/thrower" "callbacks.thrower.what=$1" \
        "callbacks.thrower.where=$2" 2>"$scratch/stderr"
    local code=$?
    ((code == $3)) || complain "$1 in $2: ended with $code, not $3: $(<"$scratch/stderr")"
    [[ $(<"$scratch/stderr") == *"$4"* ]] || complain "$1 in $2: $(<"$scratch/stderr")"
}

for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    build step_end "$compiler" || { complain "$compiler: $(<"$scratch/log")"; continue; }
    says nothing step 0 ''
    says words create 70 'thrown in create'
    says words step 70 'thrown in step'
    says words save 70 'thrown in save'
    says memory create 71 'out of memory'
    says memory step 71 'out of memory'
    says number step 70 'an exception that is no std::exception was thrown'
    ! build wrong "$compiler" || complain "$compiler takes a function of the wrong type"
done

exit $((faults > 0))
