"""Readers of graphs and documents, in process under the sanitizers, on mutated files of tests/fuzz/corpus."""
import subprocess

import base

TARGETS = {"gnntune_attack_readers": ["edge_list", "gnng", "metis", "mtx", "npz", "sniff", "tu"],
           "gnntune_attack_documents": ["document"]}


def attack(field, program, target, seconds):
    """Goes on behind a try that ended the program."""
    corpus = base.ROOT / "tests" / "fuzz" / "corpus" / target
    found = field.folder / f"found-{target}"
    tries = 0
    for _ in base.Until(seconds):
        left = max(0.1, seconds) if tries == 0 else 1.0
        done = subprocess.run([program, target, str(field.seed), str(tries), str(left), found, corpus],
                              capture_output=True, timeout=seconds + 120, env={**field.environment, "OMP_NUM_THREADS": "1"})
        try:
            tries = int(done.stdout.split()[-1])
        except (IndexError, ValueError):
            field.violation(f"{target}: the harness ended with {done.returncode} and no number: {done.stderr[-500:]!r}")
            break
        if done.returncode == 0:
            break
        report = next((line for line in done.stderr.decode(errors="replace").splitlines()
                       if "ERROR" in line or "runtime error" in line), f"exit code {done.returncode}")
        field.violation(f"{target}: try {tries} of seed {field.seed}: {report}", [found])
        tries += 1
    return tries


def attacks(field, share):
    for program in field.harness:
        for target in TARGETS[program.name]:
            name = f"mutated {'documents' if target == 'document' else 'graphs'}, {target}"
            yield name, lambda program=program, target=target: attack(field, program, target, share)
