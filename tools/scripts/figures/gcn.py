"""The sparse ops of a GCN's training step: as tuned together, by default, by the library."""
import json
import statistics

COLUMNS = ("graph", "step", "policy", "clock", "choice", "step_us", "once_us", "build_us", "total_us", "formats", "configs")


def gcn_rows(paths):
    """Rows with COLUMNS of what `gnntune tune --step gcn --json` printed; `configs` of the tuned choice, call by call."""
    for path in paths:
        for step in json.loads(path.read_text())["data"]:
            for choice in step["choices"]:
                tuned = choice["choice"] == "together"
                yield {**choice, **{name: step[name] for name in ("graph", "step", "policy", "clock")},
                       **{name: f"{choice[name]:.3f}" for name in COLUMNS if name.endswith("_us")},
                       "configs": "; ".join(f"{call['problem']}: {call['config']}" for call in step["calls"]) if tuned else ""}


def gcn_tables(rows, about):
    steps = {}
    for r in rows:
        steps.setdefault((r["step"], r["policy"], r["graph"]), {})[r["choice"]] = float(r["step_us"])
    lines = ["Microseconds of the sparse ops of a step, and how many times as fast the tuned choice is:", "",
             "| step | policy | graph | tuned | default | library | times as fast as the default | as the library |", "|---" * 8 + "|"]
    for kind in sorted({key[:2] for key in steps}):
        ratios = {"default": [], "library": []}
        for key in sorted(k for k in steps if k[:2] == kind):
            times = steps[key]
            cells = [f"{times[name]:.1f}" if name in times else "" for name in ("together", "default", "library")]
            for name, found in ratios.items():
                if name in times:
                    found.append(times[name] / times["together"])
                cells.append(f"{found[-1]:.2f}x" if name in times else "")
            lines.append(f"| `{key[0]}` | {key[1]} | `{key[2]}` | " + " | ".join(cells) + " |")
        means = " | ".join(f"{statistics.geometric_mean(found):.2f}x" if found else "" for found in ratios.values())
        lines.append(f"| `{kind[0]}` | {kind[1]} | geomean | | | | {means} |")
    return lines + ["", f"*Measured on {about['gpu']}, driver {about['driver']}, CUDA {about['cuda']}, {about['date']}, commit "
                        f"`{about['commit'][:12]}`; clock {rows[0]['clock']}.*"]
