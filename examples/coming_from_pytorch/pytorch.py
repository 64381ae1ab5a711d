# SPDX-License-Identifier: Apache-2.0
#
# PyTorch's side of docs/coming_from_pytorch.md. `python3 pytorch.py` runs what needs no GPU; functions whose names begin with
# `gpu_` need one GPU or several, those that begin with `ranks_` a launcher.
import os
import statistics
import tempfile
import timeit

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset


def gpu_devices():
    # region: devices
    for i in range(torch.cuda.device_count()):
        print(i, torch.cuda.get_device_name(i))
    with torch.cuda.device(1):
        x = torch.zeros(3, device="cuda")
        print(x.device)  # cuda:1
    torch.cuda.set_device(torch.device("cuda:1"))
    torch.cuda.set_device(0)
    # end region


def transfer(device="cpu"):
    # region: transfer
    x = torch.ones(2, 3)
    there = x.to(device)
    same = x.to("cpu")  # the same tensor
    wide = x.to(torch.float64)
    back = there.cpu()
    # end region
    return same is x, wide.dtype, back.device


def generic():
    # region: generic
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    # end region
    return device


def gpu_placement():
    # region: placement
    a = torch.ones(3, device="cuda:0")
    b = torch.ones(3, device="cuda:1")
    c = a + b  # RuntimeError: Expected all tensors to be on the same device
    # end region
    return c


def like(device="cpu"):
    # region: like
    x = torch.rand(4, dtype=torch.float64, device=device)
    zeros_of_another_shape = x.new_zeros((2, 5))  # its dtype, on its device
    fives = x.new_full((7,), 5.0)
    ones_of_its_shape = torch.ones_like(x)
    floats_elsewhere = torch.zeros_like(x, dtype=torch.float32, device="cpu")
    # end region
    return zeros_of_another_shape, fives, ones_of_its_shape, floats_elsewhere


def complex_numbers():
    # region: complex
    z = torch.complex(torch.ones(3), torch.arange(3.0))  # complex64
    w = z * 1j + 2.0
    size = w.abs()  # float32
    z.real = torch.zeros(3)
    energy = torch.vdot(w, w)  # conjugates the first
    # end region
    # region: small
    bytes = torch.tensor([100, 200, -1]).to(torch.int8)
    total = bytes.sum()  # int64
    kept = torch.tensor([0.3, 500.0]).to(torch.float8_e4m3fn)
    # end region
    return size, energy, total, kept


def gpu_utilization():
    # region: utilization
    os.environ["CUDA_VISIBLE_DEVICES"] = "2,0"  # before CUDA is first used
    print(torch.cuda.utilization(0), torch.cuda.mem_get_info(0))
    # end region


def seeds():
    # region: seeds
    torch.manual_seed(1)
    torch.cuda.manual_seed(1)  # one device
    torch.cuda.manual_seed_all(1)
    # end region


def gpu_copies(batches):
    # region: copies
    copying = torch.cuda.Stream()
    for staged in batches:
        staged = staged.pin_memory()
        with torch.cuda.stream(copying):
            x = staged.to("cuda", non_blocking=True)
        torch.cuda.current_stream().wait_stream(copying)
        x.record_stream(torch.cuda.current_stream())
    # end region


def gpu_scalars():
    # region: scalars
    print(torch.cuda.memory_allocated())
    a = torch.tensor(1.0, device="cuda")
    print(torch.cuda.memory_allocated())
    b = torch.tensor(2.0, device="cuda")
    print(torch.cuda.memory_allocated())  # 0, 512, 1024
    # end region
    return a, b


def policies():
    # region: policies
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "roundup_power2_divisions:4"
    # end region


def gpu_statistics(device):
    # region: statistics
    torch.cuda.reset_peak_memory_stats(device)
    x = torch.zeros(1_000_000, device=device)
    print(torch.cuda.memory_allocated(device), torch.cuda.memory_reserved(device), torch.cuda.max_memory_allocated(device))
    del x
    torch.cuda.empty_cache()
    print(torch.cuda.memory_summary(device))
    # end region


def gpu_out_of_memory():
    # region: out_of_memory
    torch.cuda.set_per_process_memory_fraction(0.001, 1)
    try:
        x = torch.empty(100_000_000, device="cuda:1")
    except torch.cuda.OutOfMemoryError as error:
        print(error)
    smaller = torch.empty(1_000_000, device="cuda:1")
    # end region
    return smaller


def gpu_recording(step):
    # region: recording
    torch.cuda.memory._record_memory_history()
    step()
    torch.cuda.memory._dump_snapshot("memory.pickle")  # for pytorch.org/memory_viz
    # end region


def meta():
    # region: meta
    model = Classifier().to("meta")
    weights = sum(p.numel() * p.element_size() for p in model.parameters())  # activations are not counted
    # end region
    return weights


def gpu_captured(step):
    # region: captured
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):  # its tensors come from a private pool
        step()
    graph.replay()
    # end region


# region: model
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 16)
        self.inner = nn.Linear(16, 16)
        self.norm = nn.LayerNorm(16)
        self.dropout = nn.Dropout(0.1)
        self.output = nn.Linear(16, 3)

    def forward(self, x):
        hidden = functional.relu(self.hidden(x))
        hidden = checkpoint(lambda value: torch.tanh(self.inner(value)), hidden)  # computed again
        hidden = hidden + self.dropout(self.norm(hidden))  # a residual connection
        return self.output(hidden)
# end region


def gradients():
    # region: gradients
    x = torch.full((4,), 0.5, dtype=torch.float64, requires_grad=True)
    w = torch.full((4,), 2.0, dtype=torch.float64, requires_grad=True)
    value = (x * w).tanh().square().mean()
    by_x, by_w = torch.autograd.grad(value, (x, w))
    # end region
    return float(value), by_x, by_w


def staged(x, label):
    # region: staged
    model = Classifier()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    total = 0.0
    for i in range(3):
        optimiser.zero_grad()
        output = model(x)
        loss = functional.cross_entropy(output, label)
        loss.backward()
        optimiser.step()
        total += loss.item()  # += loss would keep every graph
    # end region
    return model


def hooks(model, x):
    # region: hooks
    def report(module, inputs, output):
        print("forward:", tuple(inputs[0].shape), "to", tuple(output.shape))

    handle = model.register_forward_hook(report)
    # end region
    model(x)
    handle.remove()


def inference(model, x):
    # region: inference
    model.eval()
    with torch.no_grad():
        predicted = model(x).argmax(1)
    model.train()
    # end region
    return predicted


def planned(model, x, label):
    # region: planned
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 100)
    for i in range(100):
        optimiser.zero_grad()
        loss = functional.cross_entropy(model(x), label)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if i % 50 == 0:
            print("loss", loss.item(), "norm", norm.item())
    # end region


def accumulation(model, x, label):
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    # region: accumulation
    optimiser.zero_grad()
    for rows in (slice(0, 12), slice(12, 32)):
        loss = functional.cross_entropy(model(x[rows]), label[rows])
        (loss * len(x[rows]) / len(x)).backward()  # weighted by rows
    optimiser.step()
    # end region


def gpu_scaled(model, x, label):
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    # region: scaled
    scaler = torch.cuda.amp.GradScaler()
    optimiser.zero_grad()
    with torch.autocast("cuda", torch.float16):
        loss = functional.cross_entropy(model(x), label)
    scaler.scale(loss).backward()
    scaler.step(optimiser)  # skipped where gradients overflow
    scaler.update()
    # end region


def options():
    # region: options
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.deterministic = True
    # end region


def loader(images, labels):
    # region: loader
    loader = DataLoader(TensorDataset(images, labels), batch_size=8, shuffle=True, num_workers=2, pin_memory=False)
    for image, label in loader:
        pass
    # end region
    return image, label


def loop(loader, step):
    # region: progress
    from tqdm import tqdm

    progress = tqdm(loader, unit="batches")
    for image, label in progress:
        progress.set_postfix(loss=float(step(image, label)))
    # end region


def gpu_parallel(model, images, labels, optimiser):
    # region: parallel
    parallel = nn.DataParallel(model, device_ids=[0, 1], output_device=0, dim=0)
    loss = functional.cross_entropy(parallel(images), labels)
    # end region
    return loss


def scatter(x):
    # region: scatter
    pieces = torch.chunk(x, 2, dim=1)
    whole = torch.cat(pieces, dim=1)
    # end region
    return whole


def gpu_loss_inside(model, images, labels, optimiser):
    # region: loss_inside
    class WithLoss(nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, image, label):
            return functional.cross_entropy(self.model(image), label).unsqueeze(0)

    loss = nn.DataParallel(WithLoss(model))(images, labels).mean()  # wrong for uneven shards
    # end region
    return loss


def ranks_distributed(batches, classifier, rank):
    # region: ranks
    from torch.distributed.optim import ZeroRedundancyOptimizer

    torch.distributed.init_process_group("gloo")
    model = nn.parallel.DistributedDataParallel(classifier)
    optimiser = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=0.01)
    for x, label in batches(rank):
        optimiser.zero_grad()
        functional.cross_entropy(model(x), label).backward()
        optimiser.step()
    # end region


# region: model_parallel
class ToyModel(nn.Module):
    def __init__(self, first="cuda:0", second="cuda:1"):
        super().__init__()
        self.first, self.second = first, second
        self.net1 = nn.Linear(10, 1000).to(first)
        self.net2 = nn.Linear(1000, 5).to(second)

    def forward(self, x):
        hidden = functional.relu(self.net1(x.to(self.first)))
        return self.net2(hidden.to(self.second))
# end region


def ranks_pipeline(lower, upper, x, label):
    # region: pipeline
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

    rank = torch.distributed.get_rank()
    stage = PipelineStage(lower if rank == 0 else upper, rank, 2, torch.device("cpu"))
    schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=functional.cross_entropy)
    if rank == 0:
        schedule.step(x)
    else:
        schedule.step(target=label)
    # end region


def split_size(train, sizes=(1, 3, 5, 8, 10, 12, 20, 40, 60)):
    # region: split_size
    for rows in sizes:
        seconds = timeit.repeat(lambda: train(rows), number=1, repeat=10)
        print(rows, statistics.mean(seconds), statistics.stdev(seconds))
    # end region


def ranks_mesh():
    # region: mesh
    from torch.distributed.device_mesh import init_device_mesh

    mesh = init_device_mesh("cuda", (2, 2, 2), mesh_dim_names=("data", "pipe", "tensor"))
    # end region
    return mesh


def ranks_timeout():
    # region: timeout
    from datetime import timedelta

    torch.distributed.init_process_group("gloo", timeout=timedelta(seconds=20))
    torch.distributed.monitored_barrier()  # names the rank that is missing
    # end region


def state(model, path):
    # region: state
    torch.save(model.state_dict(), path)
    other = Classifier()
    other.load_state_dict(torch.load(path, map_location="cpu"))
    # end region
    return other


def prefix(model, other):
    # region: prefix
    wrapped = nn.DataParallel(model).state_dict()  # "module.hidden.weight"
    nn.modules.utils.consume_prefix_in_state_dict_if_present(wrapped, "module.")
    other.load_state_dict(wrapped)
    # end region


def resume(model, optimiser, schedule, path, start=0, last=3):
    # region: resume
    if os.path.exists(path):
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        optimiser.load_state_dict(saved["optimiser"])
        schedule.load_state_dict(saved["schedule"])
        torch.set_rng_state(saved["random"])
        start = saved["step"]
    for number in range(start + 1, last + 1):
        optimiser.step()
        schedule.step()
        now = {"step": number, "model": model.state_dict(), "optimiser": optimiser.state_dict(),
               "schedule": schedule.state_dict(), "random": torch.get_rng_state()}
        torch.save(now, path + ".new")
        os.replace(path + ".new", path)
    # end region


def refused():
    # region: refused
    a = torch.zeros(3, 4)
    c = a @ torch.zeros(5, 2)  # RuntimeError when it runs: mat1 and mat2 shapes cannot be multiplied (3x4 and 5x2)
    # end region
    return c


def dlpack(view):
    # region: dlpack
    capsule = torch.utils.dlpack.to_dlpack(view)
    # end region
    return torch.utils.dlpack.from_dlpack(capsule)


def benchmark(step):
    # region: benchmark
    from torch.utils.benchmark import Timer

    print(Timer("step()", globals={"step": step}).blocked_autorange())
    # end region


def main():
    torch.manual_seed(1)
    x = torch.randn(32, 8)
    label = x[:, :3].argmax(1)
    print(transfer(), generic(), [tuple(t.shape) for t in like()])
    seeds()
    policies()
    options()
    print(gradients(), meta())
    model = staged(x, label)
    hooks(model, x)
    inference(model, x)
    planned(model, x, label)
    accumulation(model, x, label)
    loader(x, label)
    split_size(lambda rows: model(x[:rows]), sizes=(1, 8))
    benchmark(lambda: model(x))
    assert torch.equal(scatter(x), x)
    assert torch.equal(dlpack(x), x)
    print(tuple(ToyModel("cpu", "cpu")(torch.zeros(20, 10)).shape))
    with tempfile.TemporaryDirectory() as folder:
        other = state(model, folder + "/model.pt")
        prefix(model, other)
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimiser, 0.9)
        for last in (2, 4):
            resume(model, optimiser, schedule, folder + "/run.pt", last=last)
    try:
        refused()
        raise AssertionError("a product that does not fit went through")
    except RuntimeError as error:
        print(error)


if __name__ == "__main__":
    main()
