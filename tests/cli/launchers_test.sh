# Launchers that are on the PATH start two ranks each: the ranks know who they are, and the last one merges what both have.
. "$(dirname "$0")/lib.sh"

export OMP_NUM_THREADS=1
mkdir graphs
for i in 1 2 3 4; do
    run 0 generate uniform --n-rows $((700 * i)) --m $((6000 * i)) --seed $i -o graphs/g$i.gnng
done
tried=""

# launched NAME COMMAND...: the command starts two ranks of $tune.
launched() {
    local name=$1
    shift
    last="$*"
    tried="$tried $name"
    # A unit that other programs spoilt is left by it, which is an exit code of its own.
    timeout 120 "$@" >out 2>err || [ -s "$name/units" ] || fail "$name did not start the ranks"
    [ "$(wc -l <"$name/units")" -eq 4 ] || fail "$name: units are missing"
    run 0 db merge --from "$name" --db "$name.db"
    for rank in 0 1; do
        [ -e "$name/rank-$rank.db" ] || fail "$name started no rank $rank"
    done
    run 0 db sql "select count(distinct host) from run where host like '%, rank _%'" --db "$name.db" --csv
    [ "$(tail -n 1 out)" -eq 2 ] || fail "$name: the ranks have become one run"
}
tune() { echo "$GNNTUNE tune --shard auto --work $1 graphs/ --device cpu --op spmm --dim 16 --max-samples 20 --db $1.db"; }
there() { command -v "$1" >/dev/null; }

# What they print with --version tells Open MPI from MPICH.
if there mpirun; then
    # shellcheck disable=SC2046
    case $(mpirun --version 2>&1) in
        *"Open MPI"*) launched open_mpi mpirun --allow-run-as-root --oversubscribe -np 2 $(tune open_mpi) ;;
        *HYDRA*) launched mpich mpirun -n 2 $(tune mpich) ;;
    esac
fi
# shellcheck disable=SC2046
there torchrun && launched torchrun torchrun --nproc-per-node 2 --no-python $(tune torchrun)
# It tells who it is by an option's argument that nothing reads; moreutils has a `parallel` of another kind.
if there parallel && parallel --version 2>/dev/null | grep -q "GNU parallel"; then
    launched gnu_parallel sh -c "seq 0 1 | parallel -j 2 $(tune gnu_parallel) '#{}'"
fi
if there srun && sinfo >/dev/null 2>&1; then
    # shellcheck disable=SC2046
    launched srun srun --ntasks=2 --overcommit $(tune srun)
    launched slurm_array sbatch --wait --array=3-5:2 --output=array-%a --wrap "$(tune slurm_array)"
    # Of an array's jobs, each with an srun of one task.
    launched srun_in_array sbatch --wait --array=0-1 --output=array-%a --wrap "srun --overcommit $(tune srun_in_array)"
fi

[ -n "$tried" ] || { echo "skipped: no launcher is on the PATH (torchrun, mpirun, parallel, srun)"; exit 77; }
echo "launchers:$tried"
