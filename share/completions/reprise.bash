# Completion of reprise(1) for bash. Commands, options and their words are those that `reprise --help` tells, so nothing is listed here.

# The commands, the options, or the words of one option: _reprise_words REPRISE commands | options | --OPTION
_reprise_words() {
	"$1" --help 2>/dev/null | case $2 in
	commands) sed -nE 's/^(usage:)? +reprise ([a-z]+).*/\2/p' ;;
	options) sed -nE 's/^ +(--[a-z-]+).*/\1/p' ;;
	*) sed -nE "s/^ +$2 .*\(([a-z]+(\|[a-z]+)+)\).*/\1/p" | tr '|' '\n' ;;
	esac
}

# Whether an option is followed by a word of its own: its line ends with the variable that it sets, and it is no switch.
_reprise_takes_word() {
	"$1" --help 2>/dev/null | grep -v '(0|1) \[' | grep -qE "^ +$2 .*\[[A-Z_]+\]\$"
}

# The place of the word from which on it is another command line, or nothing.
_reprise_program() {
	local i

	[[ ${COMP_WORDS[1]} != doctor ]] || echo 2
	for ((i = 2; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} != -- ]] || echo $((i + 1))
	done
}

_reprise() {
	local reprise=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program words

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		words="$(_reprise_words "$reprise" commands) --help"
	elif read -r program < <(_reprise_program); then
		if declare -F _command_offset >/dev/null; then
			_command_offset "$program"
		elif ((COMP_CWORD == program)); then
			mapfile -t COMPREPLY < <(compgen -c -- "$word")
		fi
		return
	elif [[ $before == --* ]] && _reprise_takes_word "$reprise" "$before"; then
		words=$(_reprise_words "$reprise" "$before")
	elif [[ $word == -* ]]; then
		words="$(_reprise_words "$reprise" options) --"
	fi
	[[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

# Where nothing of this fits, names of files.
complete -o default -F _reprise reprise
