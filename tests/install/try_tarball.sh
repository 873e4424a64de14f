#!/usr/bin/env bash
# Makes the tarball of a release, builds it without git and without a network, installs it under prefix of its own, and runs a program from there.
#
#     tests/install/try_tarball.sh BUILD      BUILD has the simulated driver
#
# Of the last commit, without what is not committed. Skips (77) where there is no git to make it with.
set -eu
cd "$(dirname "$0")/../.."
script=tests/install/try_tarball.sh
. scripts/lib/lib.sh
take_build "$@"

git rev-parse HEAD >/dev/null 2>&1 || { echo "the tarball is not tried: this is no checkout"; exit 77; }
prepare
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

meson dist -C "$built" --no-tests --allow-dirty --formats xztar >"$scratch/dist.log" 2>&1 || {
	cat "$scratch/dist.log" >&2
	stop "meson could not make the tarball"
}
mkdir "$scratch/sources" "$scratch/without"
tar -xf "$built"/meson-dist/reprise-*.tar.xz -C "$scratch/sources" --strip-components 1

# A git that tells that it was called.
printf '#!/bin/sh\necho "git $*" >>"%s"\nexit 1\n' "$scratch/git-was-called" >"$scratch/without/git"
chmod +x "$scratch/without/git"

# No network: a namespace without one, or, where that is not allowed, proxies that lead nowhere.
offline=(env http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9)
! unshare -rn true 2>/dev/null || offline=(unshare -rn)

cd "$scratch/sources"
PATH=$scratch/without:$PATH "${offline[@]}" bash -eu -c '
	meson setup build --prefix "$1/prefix" --libdir lib "-Dcuda=$2" -Dtests=disabled -Dprograms=disabled
	ninja -C build
	meson install -C build --no-rebuild
' bash "$scratch" "$cuda" >"$scratch/build.log" 2>&1 || {
	tail -n 30 "$scratch/build.log" >&2
	stop "the tarball could not be built"
}
[ ! -e "$scratch/git-was-called" ] || stop "the build called $(cat "$scratch/git-was-called")"

LD_LIBRARY_PATH=$built/tests/sim "$scratch/prefix/bin/reprise" run -- "$built/tests/ways/ways-linked" "$built/tests/programs/driver_kernels.so" \
	>/dev/null 2>"$scratch/said" || stop "what was installed does not run: $(cat "$scratch/said")"
grep -qE 'reprise: ([0-9.]+ % of [0-9,]+ launches replayed|replayed 0 of [0-9,]+ launches)' "$scratch/said" || stop "no launch was seen: $(cat "$scratch/said")"
ninja -C build uninstall >/dev/null
[ ! -e "$scratch/prefix" ] || stop "this is left when it is uninstalled: $(find "$scratch/prefix")"
echo "the tarball was built without git and without a network, installed, used and uninstalled"
