#!/bin/sh
# The checker: two runs of a program agree whatever the schedule; a log with a line changed, lost or moved does not.
# test_check.sh SIM-CHECK PROGRAM MODULE
check=$1 program=$2 module=$3
logs=$(mktemp -d) || exit 99
trap 'rm -r "$logs"' EXIT
fail() { echo "$*"; exit 1; }

plain=$(SIM_LOG="$logs/plain" "$program" "$module") || fail "the program fails"
for schedule in lazy last random:1 random:2 random:3; do
	again=$(SIM_SCHEDULE=$schedule SIM_LOG="$logs/again" "$program" "$module") || fail "the program fails: $schedule"
	[ "$plain" = "$again" ] || fail "$schedule gives $again, not $plain"
	"$check" "$logs/plain" "$logs/again" || fail "$schedule differs"
done
differs() {
	[ -s "$logs/other" ] || fail "no log $1"
	"$check" "$logs/plain" "$logs/other" && fail "a log $1 passes"
}
sed '20s/grid=4/grid=5/; 21s/grid=4/grid=5/; 22s/grid=4/grid=5/' "$logs/plain" > "$logs/other"; differs "with another grid"
sed '/kernel step/{x;s/^/x/;/^x\{20\}$/{x;d};x}' "$logs/plain" > "$logs/other"; differs "without a launch"
sed '60s/@d2/@d3/; 61s/@d2/@d3/' "$logs/plain" > "$logs/other"; differs "with another address"
exit 0
