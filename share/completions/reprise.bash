# Completion of reprise(1) for bash. Commands, options and their words are those that `reprise --help` tells, so nothing is listed here.

# The commands, a command's options, the words of one option, or of the command: _reprise_words REPRISE commands | COMMAND options|words|--OPTION
_reprise_words() {
	if [[ $2 == commands ]]; then
		"$1" --help 2>/dev/null | sed -nE 's/^(usage:)? +reprise ([a-z]+).*/\2/p'
		return
	fi
	"$1" "$2" --help 2>/dev/null | case $3 in
	options) sed -nE 's/^ +(--[a-z-]+).*/\1/p' ;;
	words) sed -nE '/^words:/,$s/^ +([a-z]+) .*/\1/p' ;;
	*) sed -nE "s/^ +$3 .*\(([a-z]+(\|[a-z0-9]+)+)\).*/\1/p" | tr '|' '\n' ;;
	esac
}

# Whether an option is followed by a word of its own: its line ends with the variable that it sets, and it is no switch; or it says so in capitals.
_reprise_takes_word() {
	"$1" "$2" --help 2>/dev/null | grep -v '(0|1) \[' | grep -qE "^ +$3 (.*\[[A-Z_]+\]\$|[A-Z]+ )"
}

# The place of the word from which on it is another command line, or nothing.
_reprise_program() {
	local i

	case ${COMP_WORDS[1]} in
	doctor) echo 2 ;;
	run | observe | verify | bench)
		for ((i = 2; i < COMP_CWORD; i++)); do
			[[ ${COMP_WORDS[i]} != -- ]] || echo $((i + 1))
		done
		;;
	esac
}

_reprise() {
	local reprise=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program words

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		words="$(_reprise_words "$reprise" commands) --help --version"
	elif [[ $command == doctor && $word == -* && $COMP_CWORD == 2 ]]; then
		words=$(_reprise_words "$reprise" doctor options)
	elif read -r program < <(_reprise_program); then
		if declare -F _command_offset >/dev/null; then
			_command_offset "$program"
		elif ((COMP_CWORD == program)); then
			mapfile -t COMPREPLY < <(compgen -c -- "$word")
		fi
		return
	elif [[ $before == --?* ]] && _reprise_takes_word "$reprise" "$command" "$before"; then
		words=$(_reprise_words "$reprise" "$command" "$before")
	elif [[ $word == -* ]]; then
		words=$(_reprise_words "$reprise" "$command" options)
		case $command in run | observe | verify | bench) words+=" --" ;; esac
	elif [[ $command == ctl ]]; then
		if ((COMP_CWORD == 2)); then # processes that accept control
			words="all $(sed -nE 's/.* 00010000 .* @reprise-([0-9]+)$/\1/p' /proc/net/unix 2>/dev/null)"
		elif ((COMP_CWORD == 3)); then
			words=$(_reprise_words "$reprise" ctl words)
		fi
		compopt +o default
	elif [[ $command == top ]]; then
		compopt +o default
	elif [[ $command == help ]]; then
		words=$(_reprise_words "$reprise" commands)
		compopt +o default
	fi
	[[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

# Where nothing of this fits, names of files.
complete -o default -F _reprise reprise
