"""The part that needs PyTorch: inputs, the fp64 reference, SDPA's backends, and the clock."""
import contextlib
import itertools
import math
import random
import subprocess
import time
import warnings
from dataclasses import dataclass
from typing import Callable

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
}

LAUNCHES = 6         # of a contestant in a block; the first is dropped
KEPT = LAUNCHES - 1
WARMUPS = 5
SEED = 1             # of inputs and of the order in blocks
LEAD_S = 2e-3        # of work that the GPU has while a contestant's launches are queued
LEAD_TRIES = 4       # each with twice the lead
LEAD_MAX = 400       # writes: the driver's queue has room for about 1,000 launches
SMI_FIELDS = ("driver_version", "clocks.sm", "clocks.max.sm", "clocks.mem", "temperature.gpu", "power.limit")
SMI_TIMEOUT_S = 20


@dataclass
class Contestant:
    name: str
    launch: Callable
    context: Callable = contextlib.nullcontext


class Clock:
    """Times launches by events, the L2 cache flushed before each unless 'warm'.

    Only the launch lies between its two events.  The GPU gets other work first, which takes longer
    than queueing all launches of a turn, so that it never waits for Python there.
    """

    def __init__(self, l2_bytes, warm):
        self.warm = warm
        self.late = 0  # turns in which the GPU caught up with Python all the same
        self.scratch = torch.empty(2 * l2_bytes + 1, dtype=torch.uint8, device="cuda")
        self.lead = min(LEAD_MAX, math.ceil(LEAD_S / self.write_seconds()))

    def write(self):
        self.scratch.fill_(1)

    def write_seconds(self):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(WARMUPS):
            self.write()
        start.record()
        for _ in range(WARMUPS):
            self.write()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e-3 / WARMUPS

    def queue(self, contestant):
        """Seconds of the kept launches, and whether the GPU might have waited for one of them."""
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(LAUNCHES)]
        with contestant.context():
            for _ in range(self.lead):
                self.write()
            for start, end in events:
                if not self.warm:
                    self.write()
                start.record()
                contestant.launch()
                end.record()
        late = events[0][0].query()
        torch.cuda.synchronize()
        return [round(start.elapsed_time(end) * 1e-3, 9) for start, end in events[1:]], late

    def turn(self, contestant):
        for _ in range(LEAD_TRIES):
            seconds, late = self.queue(contestant)
            if not late:
                return seconds
            self.lead = min(LEAD_MAX, 2 * self.lead)
        self.late += 1
        return seconds

    def blocks(self, contestants, samples):
        """{name: [seconds of a block, ...]}, every contestant once a block in an order drawn at random."""
        draw = random.Random(SEED)
        measured = {contestant.name: [] for contestant in contestants}
        for contestant in contestants:
            self.turn(contestant)
        for _ in range(math.ceil(samples / KEPT)):
            for contestant in draw.sample(contestants, len(contestants)):
                measured[contestant.name].append(self.turn(contestant))
        return measured


def inputs(shape, distribution, head_dim):
    """Q, K and V of fp16; 'logits12' makes Q 12 times as large, 'ramped' makes the rows of K grow along S."""
    draw = torch.Generator(device="cuda")
    draw.manual_seed(SEED)

    def normal(heads):
        return torch.randn(shape.batch, heads, shape.seq, head_dim, device="cuda", generator=draw)

    q, k, v = normal(shape.heads), normal(shape.kv_heads), normal(shape.kv_heads)
    if distribution.startswith("logits"):
        q *= int(distribution[len("logits"):])
    elif distribution == "ramped":
        rows = torch.arange(1, shape.seq + 1, device="cuda").view(1, 1, -1, 1)
        k *= rows / shape.seq * 4
    return q.half(), k.half(), v.half()


def reference(q, k, v, causal):
    """Attention by its definition in fp64, head by head: the scores of one are all that is held."""
    out = torch.empty_like(q, dtype=torch.float64)
    group = q.shape[1] // k.shape[1]
    hidden = torch.ones(q.shape[2], q.shape[2], dtype=torch.bool, device="cuda").triu(1) if causal else None
    for batch, head in itertools.product(range(q.shape[0]), range(q.shape[1])):
        keys, values = k[batch, head // group].double(), v[batch, head // group].double()
        scores = q[batch, head].double() @ keys.T / math.sqrt(q.shape[3])
        if causal:
            scores.masked_fill_(hidden, -math.inf)
        out[batch, head] = torch.softmax(scores, -1) @ values
    return out


def relative_l2(out, expected):
    return ((out.double() - expected).norm() / expected.norm()).item()


def sdpa(backend, q, k, v, causal):
    """PyTorch's attention with one backend and no other."""
    grouped = {"enable_gqa": True} if q.shape[1] != k.shape[1] else {}

    def launch():
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, **grouped)

    return Contestant(backend, launch, lambda: sdpa_kernel(BACKENDS[backend]))


def run_once(contestant):
    """(result, None), or (None, why) where a backend does not take the shape."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a backend's, on why it was left out
        try:
            with contestant.context():
                result = contestant.launch()
            torch.cuda.synchronize()
        except torch.cuda.OutOfMemoryError:
            raise
        except RuntimeError as error:
            return None, str(error).splitlines()[0]
    return result, None


def differing(launch, out, times):
    """How many of 'times' launches leave another output than 'out' holds now, in any bit."""
    first = out.clone()
    found = torch.zeros((), dtype=torch.int64, device="cuda")
    for _ in range(times):
        out.fill_(math.nan)
        launch()
        found += (out.view(torch.int16) != first.view(torch.int16)).any()
    return int(found)


def nvidia_smi(bus_id, clock):
    """What the driver says of the GPU while it works: clocks of an idle one mean nothing."""
    command = ["nvidia-smi", "-i", bus_id, f"--query-gpu={','.join(SMI_FIELDS)}", "--format=csv,noheader,nounits"]
    try:
        asked = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return dict.fromkeys(SMI_FIELDS)
    deadline = time.monotonic() + SMI_TIMEOUT_S
    while asked.poll() is None and time.monotonic() < deadline:
        clock.write()
        torch.cuda.synchronize()
    if asked.poll() is None:
        asked.kill()
    answer = [field.strip() for field in asked.communicate()[0].split(",")]
    if asked.returncode != 0 or len(answer) != len(SMI_FIELDS):
        return dict.fromkeys(SMI_FIELDS)
    return dict(zip(SMI_FIELDS, answer))
