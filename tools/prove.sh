#!/usr/bin/env bash
# Proves the set-up: clean clones of what is committed, a PATH with neither Java nor Node, no HOME.
set -euo pipefail
TIMEFORMAT='   %R s, %U s of CPU'

checkout=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/home"

# Python as a script, so that no pyenv shim or symlink comes between it and its library.
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
printf '#!/bin/sh\nexec "%s" "$@"\n' "$python" >"$work/bin/python3"
chmod +x "$work/bin/python3"
for tool in make git bash sh sed grep env awk \
    cat chmod cp date dirname basename head id ln ls mkdir mktemp mv readlink rm tail tee touch tr uname; do
    ln -s "$(command -v "$tool")" "$work/bin/"
done

say() { printf '\n== %s\n' "$*"; }

# fresh HOME CLONE COMMAND...: run it there with nothing else in the environment.
fresh() {
    local home=$1 clone=$2
    shift 2
    (cd "$work/$clone" && exec env -i PATH="$work/bin" HOME="$home" "$@")
}

clean() {
    git -C "$work/$1" status --porcelain | sed 's/^/   left behind: /'
    ls -A "$work/home" | sed 's/^/   in HOME: /'
    du -sm "$work/$1" | sed 's/\t.*/ MB on disk/; s/^/   /'
}

git clone --quiet "$checkout" "$work/magicbyte"
git clone --quiet "$checkout" "$work/with space"
git clone --quiet "$checkout" "$work/elsewhere"
ln -s elsewhere "$work/linked"
shared=${MAGICBYTE_SHARED:-$checkout/../shared}
[ ! -d "$shared" ] || ln -s "$(cd "$shared" && pwd -P)" "$work/shared"

say "python $("$python" -V), $(uname -sm), load $(cut -d' ' -f1 /proc/loadavg)"
! fresh "$work/home" magicbyte sh -c 'command -v java node npm uv pip'

say "make run, first command in a clean clone called magicbyte, HOME empty"
time fresh "$work/home" magicbyte make run
clean magicbyte

say "make run again, then make test"
time fresh "$work/home" magicbyte make run
time fresh "$work/home" magicbyte make test
clean magicbyte

say "make test-fast, first command in a clean clone behind a symbolic link, and again"
time fresh "$work/home" linked make test-fast
time fresh "$work/home" linked make test-fast
clean elsewhere

say "make test, first command in a clean clone with a space in its path, HOME not writable"
time fresh /dev/null "with space" make test
clean "with space"

if unshare --net true 2>/dev/null; then
    say "make test again, without a network"
    time fresh /dev/null "with space" "$(command -v unshare)" --net sh -c "'$(command -v ip)' link set lo up; make test"
fi
