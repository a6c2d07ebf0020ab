"""Memory that runs out. All allocations of the program from a random one on fail, or its address space is limited; in an
application, which has to live on, a single one fails too."""
import resource
import subprocess

import base


def victims(field):
    db = field.good_database()
    device = ("--device", "cpu", "--max-samples", "5")
    program = [("info", field.graph), ("db", "ls", "--db", db), ("db", "check", "--db", db), ("db", "show", "cora", "--db", db),
               ("explain", "cora", "--dim", "4", "--db", db), ("db", "export", "--db", db), ("convert", field.graph, "out.gnng"),
               ("tune", field.graph, "--dim", "4", *device, "--db", "spoilt.db"), ("verify", field.graph, "--dim", "1", "--device", "cpu"),
               ("generate", "mesh", "-o", "out.mtx")]
    for words in program:
        yield None, words, base.DOCUMENTED
    if field.application:
        yield field.application, (field.graph, "4", db), {0, 1}


def limit_to(size):
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def peak_of(field, program, words):
    """Address space with which these words start at all, and with which they end as ever; within a MiB."""
    def least_with(wanted):
        low, high = 1 << 20, 1 << 32
        while high - low > 1 << 20:
            middle = (low + high) // 2
            base.remove_database(field.folder / "spoilt.db")
            ended = field.run(*words, program=program, environment={"OMP_NUM_THREADS": "1"}, limits=lambda: limit_to(middle))
            low, high = (low, middle) if wanted(ended) else (middle, high)
        return high
    # What the loader cannot start says nothing of us: 127.
    started = least_with(lambda ended: ended.code not in (127, None) and b"error while loading" not in ended.err)
    return started, max(least_with(lambda ended: ended.code == 0), started + 1)


def attack(field, seconds):
    preload = str(field.failing_malloc)
    count_file = field.folder / "allocations"
    # One thread: the order of allocations is then always the same. An application is attacked with two as well.
    material = []
    for program, words, codes in victims(field):
        for threads in ("1", "2") if program else ("1",):
            base.remove_database(field.folder / "spoilt.db")
            count_file.unlink(missing_ok=True)
            environment = {"LD_PRELOAD": preload, "OMP_NUM_THREADS": threads}
            field.judge(field.run(*words, program=program, environment={**environment, "GNNTUNE_FAIL_COUNT": str(count_file)}))
            material.append((program, words, codes, environment, int(count_file.read_text()),
                             peak_of(field, program, words) if threads == "1" else None))
    in_openmp = 0
    with_two = 0
    for i in (rounds := base.Until(seconds)):
        program, words, codes, environment, allocations, peaks = field.random.choice(material)
        base.remove_database(field.folder / "spoilt.db")
        if peaks and field.random.random() < 0.3:
            limit = field.random.randrange(*peaks)
            ended = field.run(*words, program=program, environment={"OMP_NUM_THREADS": "1"}, limits=lambda: limit_to(limit))
            field.judge(ended, codes=codes, where=f" (try {i}: {limit} bytes of address space)")
            continue
        at = field.random.randrange(1, allocations + 1)
        onwards = program is None or field.random.random() < 0.5
        failing = {**environment, "GNNTUNE_FAIL_AT": str(at), **({"GNNTUNE_FAIL_ON": "1"} if onwards else {})}
        ended = field.run(*words, program=program, environment=failing)
        two = environment["OMP_NUM_THREADS"] == "2"
        with_two += two
        # The library asks for what a team of OpenMP takes before there is one. That a single allocation fails afterwards,
        # inside the runtime, is what docs/dispatcher.md says it cannot help.
        if two and not onwards and b"libgomp: " in ended.err:
            in_openmp += 1
            continue
        field.judge(ended, codes=codes, where=f" (try {i}: {environment['OMP_NUM_THREADS']} threads, allocation {at}"
                                              f"{' and all behind it' if onwards else ''})")
    if with_two:
        print(f"of {with_two} failures in an application with two threads {in_openmp} were single ones inside OpenMP's runtime, "
              "which ended it", flush=True)
    return rounds.count


def has_cuda(program):
    # doctor's row on backends: "CUDA 13.0 and CPU: ...", or "CPU only: ...; build with nvcc for CUDA"
    said = subprocess.run([str(program), "doctor"], stdout=subprocess.PIPE, check=False).stdout
    return not any(b" CPU only: " in line for line in said.splitlines() if b" backends " in line)


def attacks(field, share):
    # NVIDIA's libraries register every kernel before main(), and end by SIGSEGV where an allocation of theirs fails.
    if has_cuda(field.program):
        print("failing allocations: left out, since this build has CUDA, whose libraries do not survive them", flush=True)
        return
    yield "failing allocations", lambda: attack(field, share)
