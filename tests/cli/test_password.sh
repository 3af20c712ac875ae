# SPDX-License-Identifier: MIT
# The password of a secret key: from a file, from a descriptor, typed at a terminal.
source "$(dirname "$0")/cli.bash"
cat >ask.c <<'C'
#include <stdio.h>
#include "commands/password.h"
int main(void) {
    char password[8];
    struct error err = {0};
    char name[] = "my.key";
    if (!password_ask(name, password, sizeof password, &err)) return !printf("[%s]", password);
    printf("%s; %s; %s", err.what, err.where, err.help);
    return 1;
}
C
sanitize=${SANITIZE:+-fsanitize=$SANITIZE}
# shellcheck disable=SC2086
try 0 "$CC" -std=c11 -D_GNU_SOURCE $sanitize -iquote "$SOURCE/host" -I "$SOURCE/sdk/include" \
    ask.c "$SOURCE/host/commands/password.c" "$BUILD/host/liblathe.a" -o ask
export LATHE_PASSWORD_FILE

# ---- files and descriptors: the first line, and no more is read ----
printf 'secret\nmore\n' >file
LATHE_PASSWORD_FILE=file
try 0 ./ask
is out '[secret]'
LATHE_PASSWORD_FILE=/dev/fd/3
exec 3<file
try 0 ./ask
is out '[secret]'
exec 3<&-
printf 'crlf\r\n' >file
LATHE_PASSWORD_FILE=file
try 0 ./ask
is out '[crlf]'
printf 'no end' >file
try 0 ./ask
is out '[no end]'
printf '12345678\n' >file
try 1 ./ask
has out 'a password has at most 7 bytes; LATHE_PASSWORD_FILE'
LATHE_PASSWORD_FILE=nowhere
try 1 ./ask
has out 'cannot open "nowhere"'

# ---- no terminal ----
unset LATHE_PASSWORD_FILE
try 1 setsid -w ./ask </dev/null
has out 'there is no terminal to ask for it'
has out 'LATHE_PASSWORD_FILE=/dev/fd/3'

# ---- a terminal, which shows nothing of it ----
# type_in KEYS: once it asks
type_in() {
    tried="typed: $1"
    rm -f keys out
    mkfifo keys
    script -qefc ./ask /dev/null <keys >out &
    exec 4>keys
    wait_until grep -q 'Password of' out
    # shellcheck disable=SC2059
    printf "$1" >&4
    wait $!
    exec 4>&-
}
if command -v script >/dev/null; then
    type_in 'secret\r'
    has out 'Password of my.key: '
    has out '[secret]'
    holds 'it is shown once, by the test' test "$(grep -o secret out | wc -l)" = 1
    type_in 'sex\177cret\r'
    has out '[secret]'
    type_in 'sec\003'
    has out 'no password was given'
fi
verdict
