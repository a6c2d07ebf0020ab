"""Threads, children of fork, processes that were spawned, and the interpreter's end."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import threading

import pytest
import reference
from scripts import run_script

torch = pytest.importorskip("torch")
import gnntune.torch as gt


def make(device="cpu"):
    index, (n, _) = reference.edges("random", device)
    return gt.Graph(index, n), torch.arange(n * 8, dtype=torch.float32, device=device).view(n, 8) / n


def test_threads_share_a_graph(device):
    g, x = make(device)
    wanted = gt.spmm(g, x)
    fresh, _ = make(device)
    wrong = []

    def work(k):
        mine = x[:, :k].contiguous().requires_grad_()
        for _ in range(20):
            y = gt.spmm(fresh, mine)
            y.sum().backward()
            if not torch.allclose(y, wanted[:, :k], atol=1e-4):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in (8, 8, 4, 4, 2, 2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    assert len([p for p in fresh.problems() if p.op == "spmm" and p.direction == "forward"]) == 3  # one plan each


def _child(g, x, queue):
    torch.set_num_threads(1)  # torch's own threads do not come along, and it would wait for them
    try:
        queue.put(gt.spmm(g, x).sum().item() + gt.spmm(make()[0], x).sum().item())
    except BaseException as error:
        queue.put(repr(error))


def test_a_child_of_fork_goes_on_and_makes_its_own():
    g, x = make()
    wanted = 2 * gt.spmm(g, x).sum().item()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_child, args=(g, x, queue))
    process.start()
    assert queue.get(timeout=60) == pytest.approx(wanted)
    process.join(timeout=60)
    assert process.exitcode == 0
    assert gt.spmm(g, x).sum().item() * 2 == pytest.approx(wanted)  # the parent's handles are whole


def _spawned(queue):
    g, x = make()
    queue.put(gt.spmm(g, x).sum().item())


def test_a_spawned_process():
    g, x = make()
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_spawned, args=(queue,))
    process.start()
    assert queue.get(timeout=120) == pytest.approx(gt.spmm(g, x).sum().item())
    process.join(timeout=60)
    assert process.exitcode == 0


def test_workers_of_a_data_loader():
    class Batches(torch.utils.data.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            g, x = make()
            return gt.spmm(g, x * i).sum()

    g, x = make()
    found = torch.stack(list(torch.utils.data.DataLoader(Batches(), batch_size=None, num_workers=2)))
    assert torch.allclose(found, torch.stack([gt.spmm(g, x * i).sum() for i in range(6)]), rtol=1e-4)


@pytest.mark.parametrize("keep", ["g", "None"])
def test_the_interpreter_ends_in_peace(device, keep):
    code = (
        "import sys, torch, gnntune.torch as gt\n"
        "assert 'torch._dynamo' not in sys.modules, 'the compiler takes longer to import than torch'\n"
        f"g = gt.Graph(torch.randint(0, 50, (2, 300), device={device!r}), 50)\n"
        f"x = torch.ones(50, 8, device={device!r}, requires_grad=True)\n"
        "gt.spmm(g, x).sum().backward()\n"
        f"g = {keep}\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""


def test_a_torch_that_cannot_be_asked_from_c(tmp_path):
    """As torch 2.9 is, whose tensors have no C interface of DLPack: Python does the same, step by step."""
    program = tmp_path / "old.py"
    program.write_text(
        "import torch\n"
        "if hasattr(torch.Tensor, '__dlpack_c_exchange_api__'):\n"
        "    del torch.Tensor.__dlpack_c_exchange_api__\n"
        "import gnntune.torch as gt\n"
        "from gnntune import _native\n"
        "assert not _native.has_shim()\n"
        "g = gt.Graph(torch.tensor([[0, 1, 2], [1, 2, 0]]), 3)\n"
        "x, w = torch.eye(3, requires_grad=True), torch.rand(3, 2, requires_grad=True)\n"
        "gt.spmm(g, x).sum().backward()\n"
        "gt.gat(g, x.view(3, 1, 3), w[:, :1], w[:, 1:]).sum().backward()\n"
        "print(x.grad.sum().item(), w.grad.shape)\n"
    )
    done = run_script(program)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout == "18.0 torch.Size([3, 2])\n"
