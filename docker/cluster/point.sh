#!/bin/sh
# Executes the notebook for one point of the grid: the one whose number Slurm or Kubernetes gives, from 0, or the first argument.
# HALFTONE is the command that runs, OUT where executed notebooks go, GRID and NOTEBOOK what is run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
number=${1:-${SLURM_ARRAY_TASK_ID:-${JOB_COMPLETION_INDEX:-}}}
grid=${GRID:-$here/grid.txt}
out=${OUT:-grid}
halftone=${HALFTONE:-halftone}
if ! command -v "${halftone%% *}" >/dev/null; then
	echo "point.sh: there is no ${halftone%% *} on $(uname -n): install Halftone there, or name the command with HALFTONE, as in slurm.sh" >&2
	exit 127
fi
case $number in
'' | *[!0-9]*)
	echo "point.sh: no number of a point: start it with sbatch or as an indexed Job, or give one, as in point.sh 0" >&2
	exit 2
	;;
esac
line=$(grep -v '^ *\(#\|$\)' "$grid" | sed -n "$((number + 1))p")
if [ -z "$line" ]; then
	echo "point.sh: $grid has no point $number: it has $(grep -cv '^ *\(#\|$\)' "$grid"), counted from 0" >&2
	exit 2
fi
# Words of the grid are split here, and nowhere evaluated.
set -f
# shellcheck disable=SC2086
set -- $line
name=$1
shift
mkdir -p "$out" || { echo "point.sh: $out cannot be made: name a folder with OUT" >&2; exit 1; }
# What is there already was finished by an earlier start of the job.
if [ -e "$out/$name.ipynb" ]; then
	echo "point.sh: $out/$name.ipynb is there already"
	exit 0
fi
# shellcheck disable=SC2086
exec env "$@" $halftone run --output "$out/$name.ipynb" "${NOTEBOOK:-$here/grid.ipynb}"
