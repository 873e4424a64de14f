#!/usr/bin/env bash
# Builds the library with a sanitizer that docs/install.md does not refuse, and runs a program under it on a simulated driver that is built so, too.
#
#     tests/install/try_sanitized.sh address|thread
#
# Only what that needs is built, in the folder build-sanitized-address or build-sanitized-thread: scripts/sanitize builds and runs everything.
set -eu
cd "$(dirname "$0")/../.."
script=tests/install/try_sanitized.sh
. scripts/lib/lib.sh
help_if_asked "$@"

which=${1:-}
case $which in
address) sanitizers=address,undefined runtimes="libasan libubsan" ;;
thread) sanitizers=thread runtimes=libtsan ;;
*) refuse "it takes a sanitizer, address or thread" ;;
esac
folder=build-sanitized-$which
shift
take_no_arguments "$@"

prepare
CC=gcc set_up "$folder" "-Db_sanitize=$sanitizers" -Db_lundef=false -Dwerror=true -Dprograms=disabled
build "$folder" preload/libreprise.so tests/sim/libcuda.so.1 tests/sim/librecord.so tests/sim/sim-check tests/sim/sim-record tests/hazards/libawaits.so \
	tests/programs/driver_kernels.so tests/programs/launchbound-driver
for runtime in $runtimes; do
	readelf -d "$folder/preload/libreprise.so" | grep -q "NEEDED.*$runtime" || stop "the library was built without $runtime"
done

sanitizer_options "$which"
tests/hazards/compare.py --build "$folder" --library "$folder/preload/libreprise.so" --schedules eager,random:1 --replayed 20 \
	-- "$folder/tests/programs/launchbound-driver" --module "$folder/tests/programs/driver_kernels.so" --shape chain --iterations 1000 ||
	stop "a program fails under a library with -Db_sanitize=$sanitizers"
echo "the library was built with -Db_sanitize=$sanitizers, and ran"
