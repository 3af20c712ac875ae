# SPDX-License-Identifier: MIT
# How libraries come into a run: from copies that nobody writes over, tried first where they
# can do no harm, and each with its own names and libraries (PROBES H3, H4, H16, H23, H24,
# H46).
source "$SOURCE/tests/cli/cli.bash"
source "$SOURCE/tests/broken/build.bash"
umask 022
export HOME=$scratch/home
unset XDG_CACHE_HOME
mkdir "$HOME"
cache=$HOME/.cache/lathe

# add NAME [FLAG…]: a callback from the C text on stdin, in plugins/NAME
add() {
    local name=$1
    shift
    mkdir -p "plugins/$name"
    printf '{ "lathe": 1, "kind": "callback", "name": "%s", "version": "1.0.0",
  "library": "%s.so" }\n' "$name" "$name" >"plugins/$name/plugin.json"
    cat >"plugins/$name.c"
    compile "plugins/$name.c" "plugins/$name/$name.so" -D_GNU_SOURCE "$@" || exit 1
}

# run CODE NAMES [WORD…]: three steps with these callbacks
run() {
    local code=$1 list
    list=$(printf ',{"use":"%s"}' $2)
    shift 2
    rm -rf run
    try "$code" "$LATHE" run small.json --run-dir run --plugin-path plugins \
        "callbacks=[${list#,}]" "$@"
}

digest_of() { sha256sum "plugins/$1/$1.so" | cut -d' ' -f1; }

cat >small.json <<'END'
{ "lathe": 1, "name": "small", "seed": 1,
  "data": { "train": { "use": "blobs", "samples": 64 } },
  "model": { "use": "linear" }, "optimizer": { "use": "sgd", "lr": 0.1 },
  "train": { "until": "3step", "batch": 8 } }
END

# ---- what runs is a copy ----

# Waits in its second step, and touches pages that it has not touched before.
add waits <<END
#include <fcntl.h>
#include <unistd.h>
#include <lathe/callback.h>
static const unsigned char pages[1 << 20] = {1};
static lathe_status make(const lathe_host *host, void **self) {
    *self = (void *)host;
    return LATHE_OK;
}
static lathe_status step_end(void *self, const lathe_moment *at) {
    int sum = 0;
    if (at->step != 2) return LATHE_OK;
    close(creat("$scratch/ready", 0644));
    while (access("$scratch/go", F_OK)) usleep(1000);
    for (unsigned i = 0; i < sizeof pages; i += 4096) sum += pages[i];
    return sum == 1 ? LATHE_OK : lathe_fail(self, LATHE_EPLUGIN, "sum %d", sum);
}
LATHE_CALLBACK(.create = make, .step_end = step_end);
END
cp plugins/waits/waits.so kept.so
digest=$(digest_of waits)

# overwrite CODE: the library is written over and cut in the middle of a run
overwrite() {
    local pid
    rm -rf run ready go
    cp kept.so plugins/waits/waits.so
    tried="a run whose library is written over"
    "$LATHE" run small.json --run-dir run --plugin-path plugins \
        'callbacks=[{"use":"waits"}]' >out 2>err &
    pid=$!
    wait_until test -e ready
    head -c 2000000 /dev/zero | tr '\0' 'x' >plugins/waits/waits.so
    : >plugins/waits/waits.so
    touch go
    wait $pid
    code=$?
    [[ $code == $1 ]] || complain "exit status $code, not $1"
}
overwrite 0
has run/environment.json "$digest"
if [[ -z ${SANITIZE:-} ]]; then
    XDG_CACHE_HOME=/dev/null/none overwrite 70 # so the copy is what saved it
    has err 'run from where they are, not from copies'
fi
cp kept.so plugins/waits/waits.so
copy=$cache/plugins/$digest/waits.so
holds 'the copy is the library' cmp -s kept.so "$copy"
[[ $(stat -c %a "$copy" "${copy%/*}" | xargs) == '444 700' ]] || complain 'its mode'

# The first constructor to run swaps the library: what was hashed is what runs.
touch go
for cached in yes no; do
    add swapped <<END
#include <stdio.h>
#include <lathe/callback.h>
__attribute__((constructor)) static void swap(void) {
    rename("$scratch/other.so", "$scratch/plugins/swapped/swapped.so");
}
static lathe_status make(const lathe_host *host, void **self) {
    (void)host, (void)self;
    return LATHE_OK;
}
LATHE_CALLBACK(.create = make);
END
    digest=$(digest_of swapped)
    cp kept.so other.so
    if [[ $cached == yes ]]; then
        run 0 swapped
        has run/environment.json "$digest"
    else
        XDG_CACHE_HOME=/dev/null/none run 69 swapped
        has err 'it was changed while it was being loaded'
    fi
    holds 'it was swapped' cmp -s kept.so plugins/swapped/swapped.so
done

# Without a cache that can be used, the original runs.
run 0 waits
lacks err 'not from copies'
for bad in '' /dev/null /proc/self; do
    XDG_CACHE_HOME=$bad HOME='' run 0 waits -v
    has err 'plugins run from where they are, not from copies: '
    [[ $(grep -c 'not from copies' err) == 1 ]] || complain 'it is said more than once'
done
chmod 777 "$cache/plugins"
run 0 waits
has err "plugins\" can be written by anybody (mode 0777)"
chmod 700 "$cache/plugins"
# A copy that is not as it was made is made anew.
chmod u+w "$copy" && echo >"$copy"
run 0 waits
lacks err 'not from copies'
holds 'the copy is whole again' cmp -s kept.so "$copy"
if ((EUID == 0)) && unshare -m true 2>/dev/null; then
    for option in size=64k noexec ro; do
        rm -rf run small-cache && mkdir small-cache
        try 0 unshare -m bash -c "mount -t tmpfs -o $option none small-cache &&
            XDG_CACHE_HOME=$scratch/small-cache '$LATHE' run small.json --run-dir run \
                --plugin-path plugins 'callbacks=[{\"use\":\"waits\"}]' &&
            test -z \"\$(find small-cache -name '.[0-9]*')\""
        has err 'not from copies'
    done
else
    echo "skipped: full, noexec and read-only caches: needs root and unshare" >&2
fi

# Eight at once, and no cache yet.
rm -rf "$HOME/.cache"
tried="eight runs at once"
for i in {1..8}; do
    "$LATHE" run small.json --quiet --run-dir "at-once-$i" --plugin-path plugins \
        'callbacks=[{"use":"waits"}]' >out 2>err || touch failed &
done
wait
holds 'all end well' test ! -e failed
holds 'nothing is left aside' test -z "$(find "$cache" -name '.*')"
holds 'the copy is whole' cmp -s kept.so "$copy"

# What was not used for 30 days goes when something comes.
mkdir -p "$cache/plugins/old" "$cache/plugins/recent"
touch "$cache/plugins/old/x.so" "$cache/plugins/.1-1"
touch -d '31 days ago' "$cache/plugins/old" "$cache/plugins/.1-1" "${copy%/*}"
touch -d '29 days ago' "$cache/plugins/recent"
run 0 waits # so it is in use
printf '\0' >>plugins/waits/waits.so
run 0 waits
holds 'what is old is gone' test ! -e "$cache/plugins/old" -a ! -e "$cache/plugins/.1-1"
holds 'what is recent or in use is there' test -e "$cache/plugins/recent" -a -e "$copy"

# ---- the first time, elsewhere ----

# Notes each time that it is loaded, then does WHAT.
loads() {
    add counted "$@" <<END
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <lathe/callback.h>
__attribute__((constructor)) static void load(void) {
    int fd = open("$scratch/count", O_WRONLY | O_APPEND | O_CREAT, 0644);
    dprintf(fd, "%d\n", (int)getpid());
    close(fd);
    if (!access("$scratch/mended", F_OK)) return;
    WHAT;
}
static lathe_status make(const lathe_host *host, void **self) {
    (void)host, (void)self;
    return LATHE_OK;
}
LATHE_CALLBACK(.create = make);
END
    rm -f count
}
# counted N: so often was it loaded
counted() {
    local times
    times=$(cat count 2>/dev/null | wc -l)
    ((times == $1)) || complain "it was loaded $times times, not $1"
}

loads '-DWHAT='
run 0 counted
counted 2 # elsewhere, and here
run 0 counted
counted 3
try 0 "$LATHE" explain small.json --plugin-path plugins 'callbacks=[{"use":"counted"}]'
counted 4

loads '-DWHAT=abort()'
run 0 waits # not in use: nothing happens
counted 0
for _ in 1 2; do
    run 69 counted
    has err 'loading it ends the process'
    has err 'counted.so'
    counted 1
done
run 0 waits
try 0 "$LATHE" plugins --plugin-path plugins
has out 'refused callback/counted'
has out 'loading it ends the process'
has out 'lathe plugins --rescan'
for what in counted ./plugins/counted ./plugins/counted/counted.so; do
    try 69 "$LATHE" inspect "$what" --plugin-path plugins
    has out 'loading it ends the process'
    has out "sha256    $(digest_of counted)"
done
try 69 "$LATHE" validate small.json --plugin-path plugins 'callbacks=[{"use":"counted"}]'
counted 1
try 0 "$LATHE" plugins --rescan --plugin-path plugins
has err '1 refused before: tried once more when next used'
lacks out refused
counted 1
run 69 counted
counted 2
# Another version of the program asks anew.
mv "$cache"/refused-* "$cache/refused-0.0.0"
run 69 counted
counted 3
# So it does when the file changed, though size and time are as they were.
touch -r plugins/counted/counted.so time
sed -i 's/it ends/it Ends/; s/GCC: /gcc: /; s/crtstuff/Crtstuff/' plugins/counted/counted.so
touch -r time plugins/counted/counted.so
run 69 counted
counted 4
# What it looks at may have been mended instead.
touch mended
try 0 "$LATHE" plugins --rescan --plugin-path plugins
run 0 counted
counted 6
rm mended

# One that is refused by name leaves nothing running, nor does a run that is killed.
loads '-DWHAT=pid_t p=fork();if(p)dprintf(open("child",O_CREAT|O_WRONLY,0644),"%d",p),abort();for(;;)pause()'
run 69 counted
wait_until has_ended "$(<child)"
loads '-DWHAT=for(;;)pause()'
tried="a run that is killed while it tries a library"
"$LATHE" run small.json --run-dir run --plugin-path plugins 'callbacks=[{"use":"counted"}]' \
    >out 2>err &
pid=$!
wait_until test -s count
kill -KILL $pid
wait $pid 2>/dev/null
wait_until has_ended "$(<count)"
try 64 "$LATHE" --try-library

# ---- each its own ----

for value in 1 2; do
    mkdir -p "plugins/helps-$value"
    add "helps-$value" "-DEXPORT=\"shared_helper\"" "-DVALUE=$value" <"$broken/exporting.c"
done
run 0 'helps-1 helps-2'

# vendored NAME VALUE [FOLDER]: a callback with a library of its own, called as others' are
vendored() {
    local folder=$scratch/vendored/${3:-$1}
    mkdir -p "$folder"
    echo "int help(void); int help(void) { return $2; }" >help.c
    compile help.c "$folder/libhelper.so.1" -fvisibility=default -Wl,-soname,libhelper.so.1
    add "$1" "$folder/libhelper.so.1" "-Wl,-rpath,$folder" <<END
#include <lathe/callback.h>
int help(void);
static lathe_status make(const lathe_host *host, void **self) {
    (void)self;
    return help() == $2 ? LATHE_OK : lathe_fail(host, LATHE_EPLUGIN, "not my own");
}
LATHE_CALLBACK(.create = make);
END
}
vendored first 1
vendored second 2
vendored third 1 first
run 0 first
run 0 second
run 0 'first third'
run 69 'first second'
has err "it needs \"libhelper.so.1\" as $scratch/vendored/second/libhelper.so.1, and another"
has err "is loaded already: $scratch/vendored/first/libhelper.so.1"
has err 'plugin callback second ('
run 69 'second third'
# One without its own gets no other's.
vendored stranger 3
rm vendored/stranger/libhelper.so.1
run 69 'first stranger'
has err 'libhelper.so.1: cannot open shared object file'
# The program's own libraries count as well.
jansson=$(ldd "$LATHE" | sed -n 's/.*\(libjansson[^ ]*\) => .*/\1/p')
if [[ -n $jansson ]]; then
    vendored host 4
    mv vendored/host/libhelper.so.1 "vendored/host/$jansson"
    compile help.c "vendored/host/$jansson" -fvisibility=default "-Wl,-soname,$jansson"
    compile plugins/host.c plugins/host/host.so "vendored/host/$jansson" \
        "-Wl,-rpath,$scratch/vendored/host"
    run 69 host
    has err "it needs \"$jansson\" as $scratch/vendored/host/$jansson, and another library"
fi
# ---- many, and in order ----

# A hundred, each a library of its own; the last made goes first, and may still log.
names=
for i in {100..199}; do
    mkdir -p "plugins/p$i"
    names+=" p$i"
    printf '{ "lathe": 1, "kind": "callback", "name": "p%s", "version": "1.0.0",
  "library": "p%s.so" }\n' "$i" "$i" >"plugins/p$i/plugin.json"
done
add p100 <<END
#include <stdio.h>
#include <lathe/callback.h>
static lathe_status make(const lathe_host *host, void **self) {
    static int count;
    if (count++) return lathe_fail(host, LATHE_EPLUGIN, "one library for two plugins");
    *self = (void *)host;
    return LATHE_OK;
}
static void unmake(void *self) { lathe_log(self, LATHE_LOG_WARNING, "goes"); }
LATHE_CALLBACK(.create = make, .destroy = unmake);
END
for i in {101..199}; do cp plugins/p100/p100.so "plugins/p$i/p$i.so"; done
run 0 "${names# }"
[[ $(sed -n 's/.*: p\([0-9]*\): goes$/\1/p' err | xargs) == $(echo {199..100}) ]] ||
    complain 'they do not go in reverse order'

# What a plugin does to signals is put back before the next one is made.
(build_fixture takes-signals "$scratch/plugins/takes-signals")
rude='{"use":"takes-signals"},{"use":"chaos","point":"step_end","at":2,"act":'
for pair in interrupt=130 terminate=75 segfault=70; do
    [[ -z ${SANITIZE:-} || $pair != segfault* ]] || continue
    rm -rf run
    try "${pair#*=}" "$LATHE" run small.json --run-dir run --plugin-path plugins \
        --plugin-path "$PROBES" "callbacks=[$rude\"${pair%=*}\"}]"
    has err 'changed what signal 11 (SEGV) does; it was put back'
    if [[ $pair == segfault* ]]; then
        holds 'a report' test -s run/crash.txt
    else
        holds 'a checkpoint' test -n "$(ls run/checkpoints)"
    fi
done
verdict
