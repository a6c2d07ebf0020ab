# The progress line on a terminal: a folder's total from the start, the rate, the end, and the best so far.
. "$(dirname "$0")/lib.sh"
need_python

export OMP_NUM_THREADS=1
for seed in 1 2 3; do run 0 generate uniform --n-rows 20000 --m 100000 --seed $seed -o graph_$seed.gnng -q; done
mkdir graphs && mv graph_*.gnng graphs/
last="gnntune tune graphs/ on a terminal"
python3 - >out 2>err <<'PYTHON' || fail "the line does not say what it should"
import fcntl, os, pty, re, struct, subprocess, sys, termios

terminal, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 220, 0, 0))
command = [os.environ["GNNTUNE"], "tune", "graphs/", "--device", "cpu", "--op", "spmm", "--dim", "8,16", "--exhaustive",
           "--max-samples", "20", "--db", "a.db"]
program = subprocess.Popen(command, stdout=open("table", "w"), stderr=theirs)
os.close(theirs)
said = b""
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:  # the other end is closed
        break
    if not piece:
        break
    said += piece
code = program.wait()
text = said.decode()
print(text)
if "could not be timed" in text:
    print("skipped")
    sys.exit(0)
shown = re.split(r"[\r\n]|\x1b\[K", text)
lines = [m.groups() for m in (re.fullmatch(r"tune  \[[#-]+\] (\d+)/(~?)(\d+)  (.+ each|.+/s)  eta (.+?)  (.*)", line) for line in shown) if m]
assert code == 0, code
assert len(lines) >= 3, lines
first, final = lines[0], lines[-1]
assert first[1] == "~", "the first graph is read, the others are not"
assert "graph 1/3 " in first[5] and "graph 3/3 " in final[5], (first, final)
assert final[1] == "", "all are read"
assert first[2] == final[2], "the total is that of the folder from the start"
assert all(re.search(r"best (spmm\.\S+ )?[0-9.]+ us$", line[5]) for line in lines), lines
assert any(re.search(r"best spmm\.\S+ [0-9.]+ us$", line[5]) for line in lines), lines
PYTHON
! grep -q '^skipped' out || { echo "skipped: other programs have the processor"; exit 77; }
