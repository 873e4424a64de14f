#!/bin/sh
# A program does the same from its seed, from its text and as C.
# test_forms.sh BUILD SOURCES INCLUDE FLAG ACTION-FILE..., the flag of a sanitizer that the build is with, or empty
build=$1 sources=$2 include=$3 flag=$4
shift 4
work=$(mktemp -d) || exit 99
trap 'rm -r "$work"' EXIT
fail() { echo "$*"; exit 1; }

export LD_LIBRARY_PATH="$build/tests/sim" SIM_MEMORY=64G
program="$build/tests/fuzz/fuzz-program" module="$build/tests/fuzz/fuzz_kernels.so"
for seed in 3 14 15; do
	"$program" --seed $seed --module "$module" > "$work/seed" || fail "seed $seed ends with $?"
	"$program" --seed $seed --text > "$work/text"
	"$program" --file "$work/text" --text | cmp -s - "$work/text" || fail "seed $seed: the text changes when it is read"
	"$program" --file "$work/text" --module "$module" | cmp -s - "$work/seed" || fail "seed $seed: the text does something else"
	"$program" --seed $seed --c > "$work/program.c"
	${CC:-cc} -std=gnu17 $flag -I"$sources" -isystem "$include" "$work/program.c" "$@" -pthread -L"$build/tests/sim" \
		-l:libcuda.so.1 -o "$work/program" || fail "seed $seed: the C program cannot be compiled"
	"$work/program" "$module" | cmp -s - "$work/seed" || fail "seed $seed: the C program does something else"
done
echo 'launch 1 2' > "$work/text"
"$program" --file "$work/text" --text 2> "$work/said" && fail "half a statement passes"
exit 0
