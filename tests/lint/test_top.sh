# SPDX-License-Identifier: MIT
# Nothing stands at the top level but what CONTRIBUTING.md has there, what git ignores, and
# dotfiles.
source "$(dirname "$0")/lint.bash"
for name in *; do
    case $name in
    host | sdk | plugins | manifests | tests | CMakeLists.txt | CONTRIBUTING.md) ;;
    README.md | LICENSE | dev | build* | runs) ;;
    *) complain "$name" "it has no place at the top level" ;;
    esac
done
verdict
