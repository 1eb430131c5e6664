#!/usr/bin/env bash
# Proves the set-up: clean clones of what is committed, in folders of several names, beside a folder `shared`
# that is a link; a PATH with neither Java nor Node, an empty HOME. Each target is the first command of a clone.
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

# clone FOLDER: a clean clone there, also where FOLDER is a symbolic link to another folder.
clone() {
    local folder="$work/$1"
    if [ -L "$folder" ]; then folder=$(readlink -f "$folder"); fi
    rm -rf "$folder"
    git clone --quiet "$checkout" "$folder"
}

# fresh FOLDER COMMAND...: run it there with nothing else in the environment.
fresh() {
    local folder=$1
    shift
    (cd "$work/$folder" && exec env -i PATH="$work/bin" HOME="${home:-$work/home}" PWD="$PWD" "$@")
}

clean() {
    git -C "$work/$1" status --porcelain | sed 's/^/   left behind: /'
    ls -A "$work/home" | sed 's/^/   in HOME: /'
    du -smD "$work/$1" | sed 's/\t.*/ MB on disk/; s/^/   /'
}

ln -s elsewhere "$work/linked"
shared=${MAGICBYTE_SHARED:-$checkout/../shared}
[ ! -d "$shared" ] || ln -s "$(cd "$shared" && pwd -P)" "$work/shared"

say "python $("$python" -V), $(uname -sm), load $(cut -d' ' -f1 /proc/loadavg)"
for tool in java node npm uv pip; do
    if PATH="$work/bin" command -v "$tool"; then exit 1; fi
done
for folder in magicbyte "with space" linked; do
    for target in run test-fast test; do
        clone "$folder"
        say "make $target, first command in a clean clone called '$folder', HOME empty"
        time fresh "$folder" make "$target"
        clean "$folder"
    done
done

say "make run, then make test-fast, where make test ran before"
time fresh linked make run
time fresh linked make test-fast

say "make run, first command in a clean clone, HOME not writable"
clone magicbyte
time home=/dev/null fresh magicbyte make run
clean magicbyte

if unshare --net true 2>/dev/null; then
    say "make test, without a network, where make run ran before, HOME not writable"
    fresh magicbyte make .venv/dev
    time home=/dev/null fresh magicbyte "$(command -v unshare)" --net sh -c "'$(command -v ip)' link set lo up; make test"
fi
