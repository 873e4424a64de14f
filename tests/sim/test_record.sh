#!/bin/sh
# The recorder: what it writes is what the driver was asked, however the process ends; equal runs are equal, and others are not.
# test_record.sh SIM-RECORD LIBRECORD PROGRAM EXAMPLE MODULE OPENED DRIVER-FOLDER LIBREPRISE
compare=$1 recorder=$2 program=$3 example=$4 module=$5 opened=$6 driver=$7 reprise=$8
records=$(mktemp -d) || exit 99
trap 'rm -r "$records"' EXIT
fail() { echo "$*"; exit 1; }
differs() {
	text=$("$compare" "$records/plain" "$records/other") && fail "a record $1 passes"
	echo "$text"
	case $text in *"$2"*) ;; *) fail "a record $1: that is not said" ;; esac
}

# A whole program: as the driver counts, as under other schedules, and not as with a fault.
LD_PRELOAD=$recorder SIM_RECORD=$records/plain SIM_STATS=$records/stats "$example" "$module" || fail "the example fails"
tr -d '\0' <"$records/plain" | grep -v ' @' | cut -d ' ' -f 2 | sort | uniq -c | awk '{print $1, $2}' | sort >"$records/counted"
sed 1d "$records/stats" | sort | cmp - "$records/counted" || fail "the driver has other counts"
for schedule in lazy last random:1; do
	LD_PRELOAD=$recorder SIM_RECORD=$records/$schedule SIM_SCHEDULE=$schedule "$example" "$module" || fail "the example fails: $schedule"
	"$compare" "$records/plain" "$records/$schedule" || fail "$schedule differs"
done
LD_PRELOAD=$recorder SIM_RECORD=$records/other SIM_FAULT=cuEventRecord:30=400 "$example" "$module" 2>/dev/null
differs "with a fault" "cuEventRecord returned 0, but under Reprise cuEventRecord returned 400"

# Threads, a forked process, functions that were looked up, and ends without warning.
for way in return _exit kill; do
	rm -f "$records"/ended*
	LD_PRELOAD=$recorder SIM_RECORD=$records/ended "$program" $way
	[ $? = "$([ $way = kill ] && echo 137 || echo 0)" ] || fail "$way: the program fails"
	lookup=cuGetProcAddress_v2
	printf '1 %s 0\n' cuInit $lookup $lookup $lookup >"$records/expected"
	printf '1 cuStreamQuery_ptsz 201\n' | cat "$records/expected" - >"$records/child"
	printf '%s\n' '2 cuDeviceGetCount 0' '1 cuStreamQuery_ptsz 201' >>"$records/expected"
	tr -d '\0' <"$records/ended" | cmp - "$records/expected" || fail "$way: another record"
	cat "$records"/ended.* | tr -d '\0' | cmp - "$records/child" || fail "$way: another record of the forked process"
done

# A driver that the program opened itself, alone and with Reprise between.
printf '1 %s\n' 'cuInit 0' 'cuDeviceGetCount 0' '#here 0' 'cuGetProcAddress_v2 0' 'cuStreamQuery_ptsz 201' \
	'cuDevicePrimaryCtxRetain 0' 'cuCtxSetCurrent 0' '@depth=1,contexts=1,mode=0 0' 'cuCtxSetCurrent 0' \
	'cuThreadExchangeStreamCaptureMode 0' '@depth=1,contexts=1,mode=2 0' >"$records/expected"
for preloaded in "$recorder" "$recorder:$reprise"; do
	rm -f "$records/opened"
	LD_LIBRARY_PATH=$driver LD_PRELOAD=$preloaded REPRISE=on SIM_RECORD=$records/opened "$opened" || fail "opened: the program fails"
	tr -d '\0' <"$records/opened" | cmp - "$records/expected" || fail "opened: another record"
done

# What the comparer passes over, and what not.
printf '%s\n' '1 cuInit 0' '2 cuEventQuery 0' '1 cuStreamQuery 0' >"$records/plain"
printf '%s\n' '1 cuInit 0' '1 cuStreamQuery_ptsz 600' '1 cuStreamQuery 600' '1 cuStreamQuery 0' '2 cuEventQuery 600' '2 cuEventQuery 0' >"$records/other"
"$compare" "$records/plain" "$records/other" || fail "polling differs"
printf '%s\n' '1 cuInit 0' '2 cuEventQuery 0' '1 cuStreamSynchronize 600' '1 cuStreamQuery 0' >"$records/other"
differs "with another call" "thread 1, call 2: cuStreamQuery returned 0, but under Reprise cuStreamSynchronize returned 600"
printf '%s\n' '1 cuInit 0' '2 cuEventQuery 0' >"$records/other"
differs "without a call" "the first that is missing: cuStreamQuery"
printf '%s\n' '1 cuInit 0' '1 @depth=0,mode=2 0' '2 cuEventQuery 0' '1 cuStreamQuery 0' >"$records/other"
differs "with another state" "call 2: cuStreamQuery returned 0, but under Reprise the thread's state became depth=0,mode=2"
printf '%s\n' '1 cuInit 0' '2 cuEventQuery 0' '1 cuStreamQuery 0' '3 cuInit 0' >"$records/other"
differs "with another thread" "thread 3: 0 calls, but 1 under Reprise"
: >"$records/plain.77"
differs "without a process" "2 processes"
printf '%s\n' '1 cuInit' >"$records/other"
"$compare" "$records/other" "$records/other" && fail "an unreadable record passes"
exit 0
