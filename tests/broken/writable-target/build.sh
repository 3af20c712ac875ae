# SPDX-License-Identifier: MIT
mkdir "$out/deep" "$out/deep/er"
compile "$source" "$out/deep/er/real.so"
chmod 777 "$out/deep/er"
ln -s deep/er/real.so "$out/plugin.so"
