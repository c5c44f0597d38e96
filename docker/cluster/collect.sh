#!/bin/sh
# Collects the executed notebooks of a grid, in its order, into one figure: grid.html, and as text where the job prints.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-grid}
halftone=${HALFTONE:-halftone}
if ! command -v "${halftone%% *}" >/dev/null; then
	echo "collect.sh: there is no ${halftone%% *} on $(uname -n): install Halftone there, or name the command with HALFTONE, as in slurm.sh" >&2
	exit 127
fi
set --
for name in $(grep -v '^ *\(#\|$\)' "${GRID:-$here/grid.txt}" | awk '{print $1}'); do
	if [ ! -e "$out/$name.ipynb" ]; then
		echo "collect.sh: $out/$name.ipynb is missing: its point failed or still runs" >&2
		exit 1
	fi
	set -- "$@" "$out/$name.ipynb"
done
# shellcheck disable=SC2086
exec $halftone compare --output "$out/grid.html" "$@"
