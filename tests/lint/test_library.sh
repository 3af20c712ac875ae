# SPDX-License-Identifier: MIT
# liblathe is a guest in somebody's process: nothing in it can be written that is not a
# session's, and it does not end the process, change how it takes signals, or speak for it.
source "$(dirname "$0")/lint.bash"
[[ -z ${SANITIZE:-} ]] || skip "sanitizers bring symbols of their own"
library=$BUILD/host/liblathe.a
[[ -e $library ]] || complain "$library" "is not there"

# What may be written: object, symbol. Which worker the calling thread is, of whichever
# session it turns just now (workers.h); a thread's own.
allowed_data="workers.c.o self"
# What may be called: object, function. The guard asks with these, and puts back what a
# plugin changed.
allowed_calls="guard.c.o chdir
guard.c.o setlocale
guard.c.o sigaction
guard.c.o umask"
forbidden='_?exit|_Exit|quick_exit|abort|raise|kill|tgkill|signal|sigaction|sigprocmask|alarm'
forbidden+='|setitimer|timer_create|atexit|on_exit|__cxa_atexit|__assert_fail|v?fork|system|popen'
forbidden+='|exec[lv]p?e?|setenv|putenv|unsetenv|clearenv|chdir|fchdir|umask|setlocale|setvbuf'
forbidden+='|putchar|puts|v?printf|__v?printf_chk|perror|stdin|stdout|stderr|s?rand|strtok'
forbidden+='|openblas_set_num_threads'

# "object symbol", where the symbol lies in a section that can be written once it is
# relocated: not .data.rel.ro
objdump -t "$library" | awk '
    /file format/ { object = $1; sub(/:$/, "", object) }
    match($0, /[ \t]\.?(data|bss|tdata|tbss)(\.[^ \t]*)?[ \t]|\*COM\*/) {
        section = substr($0, RSTART + 1, RLENGTH - 2)
        if (section !~ /^\.data\.rel\.ro/ && $NF !~ /^\./) print object, $NF
    }' >"$scratch/data"
nm -u "$library" 2>/dev/null | awk '
    /:$/ { object = $1; sub(/:$/, "", object) }
    $1 == "U" { print object, $2 }' | grep -E " ($forbidden)\$" >"$scratch/calls"

# beyond FILE ALLOWED: what is in the file only; what is allowed has to be there, or it need
# not be allowed
beyond() {
    sort -u "$1" >"$1.sorted"
    comm -23 "$1.sorted" <(sort <<<"$2")
    comm -13 "$1.sorted" <(sort <<<"$2") | while read -r object name; do
        complain "$object" "$name is allowed here, and not used"
    done
}
while read -r object name; do complain "$object" "$name can be written: a global"
done < <(beyond "$scratch/data" "$allowed_data")
while read -r object name; do complain "$object" "calls or touches $name"
done < <(beyond "$scratch/calls" "$allowed_calls")

# Nothing of it runs when it is loaded.
objdump -h "$library" | awk '
    /file format/ { object = $1; sub(/:$/, "", object) }
    $2 ~ /^\.(preinit_array|init_array|fini_array|ctors|dtors)/ { print object, $2 }' |
    while read -r object section; do complain "$object" "has a constructor ($section)"; done
verdict
