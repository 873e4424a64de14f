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

# Order and races, by logs made by hand: a and b on stream 1, c on stream 2 after a by an event.
cat > "$logs/plain" <<'LOG'
op 1 context=1 stream=1 after= host=0 own=0 kernel a parameters=@d1+0w
mark 2 context=1 stream=1 after=1 host=0 own=0 record event=1
op 3 context=1 stream=1 after=2 host=0 own=0 kernel b parameters=@d2+0w
mark 4 context=1 stream=2 after=2 host=0 own=0 point
op 5 context=1 stream=2 after=4 host=0 own=0 kernel c parameters=@d1+0r|@d3+0w
LOG
cp "$logs/plain" "$logs/other"
"$check" "$logs/plain" "$logs/other" || fail "a log does not agree with itself"
"$check" --races "$logs/plain" || fail "a race is seen where there is none"
says() {
	"$check" "$logs/plain" "$logs/other" > "$logs/said" && fail "a log $2 passes"
	grep -q "$1" "$logs/said" || fail "a log $2 is told as: $(cat "$logs/said")"
}
sed 's/point/point/; s/stream=2 after=2/stream=2 after=/' "$logs/plain" > "$logs/other"; says "edge is lost" "with an edge lost"
"$check" --races "$logs/other" > "$logs/said" && fail "a race passes"
grep -q "kernel a" "$logs/said" || fail "the race is told as: $(cat "$logs/said")"
sed 's/stream=2 after=2/stream=2 after=3/' "$logs/plain" > "$logs/other"; says "edge is invented" "with an edge too many"
sed 's/^op 3\(.*\)after=2/op 3\1after=/' "$logs/plain" > "$logs/other"; says "edge is lost" "with an edge lost within a stream"
# A graph's branches: what is not ordered in the plain run may not become so.
cat > "$logs/plain" <<'LOG'
op 1 context=1 stream=1 after= host=0 own=0 kernel a parameters=@d1+0w
op 2 context=1 stream=1 after=1 host=0 own=0 kernel b parameters=@d2+0w
op 3 context=1 stream=1 after=1 host=0 own=0 kernel c parameters=@d3+0w
op 4 context=1 stream=1 after=2,3 host=0 own=0 kernel d parameters=@d2+0r|@d3+0r
LOG
sed '2h;2d;3G' "$logs/plain" > "$logs/other"
"$check" "$logs/plain" "$logs/other" || fail "the order of running counts"
sed 's/^op 3\(.*\)after=1/op 3\1after=2/' "$logs/plain" > "$logs/other"; says "edge is invented" "with branches in a row"
sed 's/^op 4\(.*\)after=2,3/op 4\1after=2/' "$logs/plain" > "$logs/other"; says "edge is lost" "with a branch left out"
# What the host has waited for.
printf 'mark 5 context=0 stream=0 after=0,4 host=0 own=0 host-wait thread=1\n' >> "$logs/plain"
cp "$logs/plain" "$logs/other"
"$check" "$logs/plain" "$logs/other" || fail "a wait does not agree with itself"
sed 's/after=0,4/after=0,2/' "$logs/plain" > "$logs/other"; says "no longer waits for" "with a wait too short"
sed 's/^mark 5/mark 6/; $p' "$logs/plain" | sed '$s/mark 6/mark 7/' > "$logs/other"; says "2 times under Reprise" "with a wait too many"
# Beside it, for a stream that executes nothing: no more is known then, or the wait is one.
printf 'mark 6 context=1 stream=9 after=4 host=5 own=5 point\nmark 7 context=0 stream=0 after=5,6 host=0 own=0 host-wait thread=1\n' | cat "$logs/plain" - > "$logs/other"
"$check" "$logs/plain" "$logs/other" || fail "a wait that tells nothing counts"
sed 's/^mark 5\(.*\)after=0,4/mark 5\1after=0,2/' "$logs/other" > "$logs/more"
sed 's/after=0,4/after=0,2/' "$logs/plain" > "$logs/less"
"$check" "$logs/less" "$logs/more" > "$logs/said" && fail "a wait for a stream without ops passes that tells something"
grep -q "2 times under Reprise" "$logs/said" || fail "it is told as: $(cat "$logs/said")"
printf 'op 1 context=1 stream=1 after= host=0 own=0 copy from=@h1+0 to=@d1+0 bytes=64,1,1\nop 2 context=1 stream=2 after= host=0 own=0 copy from=@h1+40 to=@d1+40 bytes=64,1,1\n' > "$logs/plain"
"$check" --races "$logs/plain" || fail "copies of other halves race"
printf 'op 3 context=1 stream=3 after=1 host=0 own=0 set to=@d1+50 value=0 size=4 width=1\n' >> "$logs/plain"
"$check" --races "$logs/plain" && fail "a memset into the second half does not race"
printf 'mark 4 context=0 stream=0 after=0,2 host=0 own=0 host-wait thread=1\nop 5 context=1 stream=4 after= host=4 own=0 set to=@d1+40 value=0 size=4 width=1\n' >> "$logs/plain"
sed -i /stream=3/d "$logs/plain"
"$check" --races "$logs/plain" || fail "what the host waited for does not count"
# The window of an attribute says what to keep in the cache: a kernel does nothing there by that.
printf 'op 1 context=1 stream=1 after= host=0 own=0 kernel a attribute1=0@d1+0 parameters=@d2+0w\nop 2 context=1 stream=2 after= host=0 own=0 kernel b parameters=@d1+0w\n' > "$logs/plain"
"$check" --races "$logs/plain" || fail "a window of memory counts as a read"
sed 's/parameters=@d2/parameters=@d1/' "$logs/plain" > "$logs/other"
"$check" --races "$logs/other" && fail "a race beside a window passes"
exit 0
