#!/usr/bin/env bash
# Builds the library optimised for size (-Os), and runs two hazards with it on the simulated driver.
#
#     tests/install/try_size.sh BUILD      BUILD has the simulated driver, and the hazards
#
# Only the library is built, in the folder build-size: what the doors and the rooms are compiled to is all that differs.
set -eu
cd "$(dirname "$0")/../.."
script=tests/install/try_size.sh
. scripts/lib/lib.sh
take_build "$@"

prepare
set_up build-size -Doptimization=s -Dwerror=true -Dprograms=disabled -Dtests=disabled
build build-size preload/libreprise.so
grep -q -- ' -Os ' <(ninja -C build-size -t commands preload/libreprise.so) || stop "it was not built with -Os"

compare() { # compare HAZARD [option ...]
	local hazard=$1
	shift
	tests/hazards/compare.py --build "$built" --library build-size/preload/libreprise.so --schedules eager,random:1 --replayed 20 "$@" \
		-- "$built/tests/hazards/hazards" "$built/tests/programs/driver_kernels.so" "$hazard" || stop "$hazard fails with a library that is optimised for size"
}
compare patch_mixed --counter node_updates=1 --most node_updates_failed=0
compare two_threads_one_stream --env REPRISE_HOLD=100000
echo "the library was optimised for size, and ran"
