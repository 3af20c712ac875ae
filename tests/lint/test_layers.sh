# SPDX-License-Identifier: MIT
# A file of host/ includes only lower layers of layers.txt, never a neighbour; the loop is
# written on session.h alone; plugins and sdk know nothing of the host.
source "$(dirname "$0")/lint.bash"

grep -v '^#' tests/lint/layers.txt >"$scratch/layers"

# place NAME: "<layer> <module>" of a file (without suffix); fails when it has none. A name
# of its own goes before `name*` and `name/`, and of those the longest.
place() {
    local name=$1 layer=0 token answer='' length=0
    local -a tokens
    while read -ra tokens; do
        layer=$((layer + 1))
        for token in "${tokens[@]}"; do
            case $token in
            "$name") answer="$layer $name"; break 2 ;;
            *\* | */)
                [[ $name == ${token%\*}* ]] && ((${#token} > length)) || continue
                length=${#token}
                [[ $token == */ ]] && answer="$layer $name" || answer="$layer $token"
                ;;
            esac
        done
    done <"$scratch/layers"
    echo "$answer"
    [[ -n $answer ]]
}

declare -A layer_of module_of
while read -r file; do
    name=${file#host/}
    name=${name%.[ch]}
    if ! answer=$(place "$name"); then
        complain "$file" "is in no layer of tests/lint/layers.txt"
        continue
    fi
    read -r layer_of["$name"] module_of["$name"] <<<"$answer"
done < <(c_files host)

# "file:line:included", for includes in quotes
grep -nHE '^ *# *include +"' $(c_files host) |
    sed -E 's/^([^:]+:[0-9]+):[^"]*"([^"]+)".*/\1:\2/' |
    while IFS=: read -r file line included; do
        name=${file#host/}
        name=${name%.[ch]}
        # Paths are from host/; a file may also name one that lies beside it.
        target=${included%.h}
        [[ -e host/$included ]] || target=$(dirname "$name")/${included%.h}
        target=${target#./}
        if [[ ! -e host/$target.h ]]; then
            complain "$file:$line" "\"$included\" is not a header of host/"
        elif [[ -z ${layer_of[$name]:-} || -z ${layer_of[$target]:-} ]]; then
            : # said above
        elif [[ ${module_of[$name]} != "${module_of[$target]}" ]] &&
            ((layer_of[$target] >= layer_of[$name])); then
            complain "$file:$line" "layer ${layer_of[$name]} includes \"$included\" of layer \
${layer_of[$target]}"
        fi
    done

if [[ -e host/loop.c ]]; then
    grep -nE '^ *# *include +["<]' host/loop.c |
        grep -vE '<lathe/session\.h>|"loop\.h"|<(stddef|stdint|stdbool)\.h>' |
        while IFS=: read -r line text; do
            complain "host/loop.c:$line" "the loop is written on lathe/session.h: $text"
        done
fi

# Plugins: their own folder, kernels/, the SDK. The SDK: itself and the C library.
grep -nHE '^ *# *include +"' $(c_files plugins) </dev/null |
    while IFS=: read -r file line text; do
        included=$(sed -E 's/[^"]*"([^"]+)".*/\1/' <<<"$text")
        [[ $included == kernels/*.h || -e $(dirname "$file")/$included ]] ||
            complain "$file:$line" "a plugin includes \"$included\""
    done
standard='<(assert|ctype|errno|fenv|float|inttypes|limits|math|setjmp|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|time)\.h>'
grep -nHE '^ *# *include +<' $(c_files sdk/include) </dev/null | grep -vE "$standard" |
    while IFS=: read -r file line text; do
        complain "$file:$line" "the SDK needs nothing but the C library: $text"
    done
verdict
