"""The problem sizes of a comparison, and the inputs that tell them apart."""
from dataclasses import dataclass

from .fault import Fault

USUAL_BATCH, USUAL_HEADS = 32, 8  # not said in names
DISTRIBUTIONS = ("normal", "logits4", "logits12", "ramped")


@dataclass(frozen=True)
class Shape:
    batch: int
    heads: int
    seq: int
    causal: bool
    kv_heads: int

    @property
    def name(self):
        parts = [f"b{self.batch}" if self.batch != USUAL_BATCH else "",
                 f"h{self.heads}" if self.heads != USUAL_HEADS else "",
                 f"kv{self.kv_heads}" if self.kv_heads != self.heads else "",
                 f"s{self.seq}",
                 "causal" if self.causal else ""]
        return "_".join(filter(None, parts))

    def sizes(self):
        """By the names of the sweep file."""
        return {"B": self.batch, "H": self.heads, "HKV": self.kv_heads, "S": self.seq, "CAUSAL": int(self.causal)}

    def variables(self, spec):
        """Of the sweep file's expressions; what is not a size is as in its first shape."""
        first = {name: value for name, value in spec["shapes"][0].items() if name != "name"}
        return {**first, **self.sizes()}


def parse_shape(text):
    """Read B,H,S,causal or B,H,S,causal,HKV."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (4, 5) or min(numbers) < 0 or 0 in numbers[:3] + numbers[4:] or numbers[3] > 1:
        raise Fault(f"--shape {text}: not B,H,S,causal or B,H,S,causal,HKV, as 32,8,512,0")
    batch, heads, seq, causal = numbers[:4]
    kv_heads = numbers[4] if len(numbers) == 5 else heads
    if heads % kv_heads:
        raise Fault(f"--shape {text}: {kv_heads} heads of K and V do not divide {heads} heads of Q")
    return Shape(batch, heads, seq, bool(causal), kv_heads)


def both(batch, heads, seq):
    return [Shape(batch, heads, seq, causal, heads) for causal in (False, True)]


def headline():
    return both(USUAL_BATCH, USUAL_HEADS, 512)


def table():
    """One dimension varied at a time about the headline, and a batch of one."""
    sizes = [(32, 8, seq) for seq in (128, 256, 512, 1024, 2048)]
    sizes += [(batch, 8, 512) for batch in (8, 16, 64)]
    sizes += [(32, heads, 512) for heads in (4, 16)]
    sizes += [(1, 8, 512)]
    return [shape for size in sizes for shape in both(*size)]


def entry_name(shape, distribution):
    """Its key in the JSON: the usual inputs are not said."""
    return shape.name if distribution == "normal" else f"{shape.name}_{distribution}"
