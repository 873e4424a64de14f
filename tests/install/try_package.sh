#!/usr/bin/env bash
# Builds the Debian package in a folder of its own outside the sources, reads what it says of itself, installs it here, runs a program under the installed command on the simulated driver, and removes it again.
#
#     tests/install/try_package.sh BUILD      BUILD has the simulated driver
#
# Skips (77) where there is no dpkg, or where the package is installed already, which is then not ours to remove.
set -eu
cd "$(dirname "$0")/../.."
script=tests/install/try_package.sh
. scripts/lib/lib.sh
take_build "$@"

command -v dpkg-query >/dev/null || { echo "the package is not tried: this is no Debian or Ubuntu"; exit 77; }
! dpkg-query -W reprise >/dev/null 2>&1 || { echo "the package is not tried: it is installed here already"; exit 77; }

# Whatever is named after us in the folders that packages and the loader write to.
traces() {
	find /etc /usr /var/lib/dpkg /var/cache/man -xdev \( -ipath '*reprise*' -o -name '*_reprise' \) ! -path "$PWD/*" ! -path "$built/*" 2>/dev/null | sort
	ldconfig -p | grep reprise || true
}

# Left there if something is wrong: its log is in it.
scratch=$(mktemp -d)
package=$(PACKAGE=$scratch/package scripts/package | tail -n 1)
[ -f "$package" ] && [ "${package%/reprise_*.deb}" = "$scratch/package" ] || stop "the package is not in $scratch/package, where it was to be built: $package"

recommended=$(dpkg-deb -f "$package" Recommends)
for other in python3 binutils; do
	grep -qE "(^|, )$other( |,|$)" <<<"$recommended" || stop "the package does not recommend $other, which its tools run with, but: $recommended"
done

want_command lintian lintian
! command -v lintian >/dev/null || lintian --fail-on error,warning "${package%.deb}.changes" 2>/dev/null || stop "lintian has something against the package"

traces >"$package.before"
as_root dpkg -i "$package" >/dev/null
trap 'as_root dpkg --purge reprise >/dev/null' EXIT

program=("$built/tests/ways/ways-linked" "$built/tests/programs/driver_kernels.so")
export LD_LIBRARY_PATH=$built/tests/sim
plain=$("${program[@]}")
try() {
	local said

	said=$("$@" 2>"$package.said") || stop "$*: ended with $?: $(cat "$package.said")"
	[ "$said" = "$plain" ] || stop "$*: printed something else than the program alone"
	grep -qE 'reprise: ([0-9.]+ % of [0-9,]+ launches replayed|replayed 0 of [0-9,]+ launches)' "$package.said" || stop "$*: no launch was seen: $(cat "$package.said")"
}
try reprise run -- "${program[@]}"
try reprise run --stand-in -- "${program[@]}"
try env LD_PRELOAD=libreprise.so REPRISE_REPORT=stderr "${program[@]}"
[ "$(command -v reprise)" = /usr/bin/reprise ] || stop "another reprise is found before the package's"
reprise doctor | grep -q ' /usr/lib/.*/libreprise.so$' || stop "the installed command has another library than the installed one"

tests/install/check_links.py /usr/share/doc/reprise || stop "the installed pages link to what is not installed"

trap - EXIT
as_root dpkg --purge reprise >/dev/null
traces >"$package.after"
diff "$package.before" "$package.after" || stop "this is left, or gone, after the package was removed"
rm -r "$scratch"
echo "the package was built, installed, used and removed"
