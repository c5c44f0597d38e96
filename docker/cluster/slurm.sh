#!/bin/bash
#SBATCH --job-name=halftone-grid
#SBATCH --array=0-5
#SBATCH --cpus-per-task=2
#SBATCH --mem=2G
#SBATCH --time=00:30:00
#SBATCH --output=%x-%A_%a.log
# A grid as a Slurm array, then one figure of it:
#   id=$(sbatch --parsable docker/cluster/slurm.sh)
#   sbatch --dependency=afterok:$id --wrap docker/cluster/collect.sh
# HALFTONE is the command on the nodes. With the image: docker save halftone:cpu -o halftone.tar, once
# apptainer build halftone.sif docker-archive:halftone.tar, and HALFTONE="apptainer run halftone.sif".
set -euo pipefail
# Slurm runs a copy of this script from its spool; the folder it was submitted from is the same on every node.
export HALFTONE_THREADS=${SLURM_CPUS_PER_TASK:-2}
exec "${CLUSTER:-${SLURM_SUBMIT_DIR:-.}/docker/cluster}/point.sh"
