#!/usr/bin/env python3
"""Measures a PyTorch network block by block, and writes a profile that Pipewright plans with.

    python3 pipewright_profile.py torchvision.models:resnet50 --out resnet50.json
    python3 pipewright_profile.py mine.py:build --input tokens:128:50257 --batch 1,2,4 --out gpt.json
    python3 pipewright_profile.py --links links.csv --processes 4
    torchrun --nproc-per-node 8 pipewright_profile.py --links links.csv

    ./pipewright plan resnet50.json --cluster dgx-h100 --global-batch 256
    ./pipewright calibrate links.csv --cluster dgx-h100 --level machine --out here

It needs PyTorch (1.11 or newer) and nothing else; copy it to where the GPUs are.

MODEL is PACKAGE.MODULE:NAME or FILE.py:NAME. NAME is a module, or a class or function that gives a module, or
(module, example input), or (module, example input, loss), where loss(output) gives one number and is a layer of its own.
The example's first axis counts samples; where there is none, --input says what a sample is.

A block is a child of the network; Sequential and ModuleList are opened, and so is what holds a stack of equal blocks.
--open NAME opens one more. What happens between blocks has no time of its own; the last line says how much that is.

Per block: the forward pass, the gradient of the input, the rest of the backward pass (what only the update waits for)
and the optimizer's step; what is saved for the backward pass, counted once and with the block that made it; on a GPU,
the peak. Times are medians: CUDA events on a GPU, the clock on a CPU.
"""

import argparse
import collections
import contextlib
import datetime
import importlib
import importlib.util
import json
import os
import statistics
import sys
import time

if "--threads" in sys.argv[:-1]:  # OpenBLAS reads it once, when it is loaded
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, sys.argv[sys.argv.index("--threads") + 1])

try:
    import torch
except ImportError:
    sys.exit("pipewright_profile: PyTorch is not installed for this Python; run it with one that has torch")

FORMAT, VERSION = "pipewright-profile", 1


class Mistake(Exception):
    """Something that the user can put right, in one sentence."""


# ---- what is measured


def load(spec):
    """The network, and the example input and loss where the user's function gives them."""
    place, colon, name = spec.rpartition(":")
    if not colon or not place or not name:
        raise Mistake(f"{spec}: this names no network; write PACKAGE.MODULE:NAME or FILE.py:NAME")
    try:
        if place.endswith(".py"):
            if not os.path.exists(place):
                raise Mistake(f"{place}: no such file; give the file that has {name}")
            sys.path.insert(0, os.path.dirname(os.path.abspath(place)))
            described = importlib.util.spec_from_file_location("profiled_network", place)
            module = importlib.util.module_from_spec(described)
            described.loader.exec_module(module)
        else:
            sys.path.insert(0, os.getcwd())
            module = importlib.import_module(place)
    except ImportError as e:
        raise Mistake(f"{spec}: {place} cannot be imported: {e}; install it or correct the name")
    except (Mistake, KeyboardInterrupt):
        raise
    except Exception as e:
        raise Mistake(f"{spec}: {place} fails when it is imported: {first_line(e)}; correct it")
    if not hasattr(module, name):
        raise Mistake(f"{spec}: {place} has no {name}; give the name of a module or of a function that makes one")
    made = getattr(module, name)
    if callable(made) and not isinstance(made, torch.nn.Module):
        try:
            made = made()
        except Exception as e:
            raise Mistake(f"{spec}: {name}() fails: {first_line(e)}; give a function that needs no arguments")
    parts = made if isinstance(made, tuple) else (made,)
    if not isinstance(parts[0], torch.nn.Module) or len(parts) > 3:
        raise Mistake(f"{spec}: {name} gives {type(parts[0]).__name__}; give a torch.nn.Module, or one with an example input and a loss")
    example = parts[1] if len(parts) > 1 else None
    if example is not None:
        example = tuple(example) if isinstance(example, (tuple, list)) else (example,)
    return parts[0], example, parts[2] if len(parts) > 2 else None


def first_line(error):
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def described_inputs(texts):
    """One sample's tensors from --input: 3x224x224, or tokens:STEPS:VOCABULARY."""
    tensors = []
    for text in texts:
        try:
            if text.startswith("tokens:"):
                steps, vocabulary = (int(part) for part in text.split(":")[1:])
                tensors.append(torch.randint(0, vocabulary, (1, steps)))
            else:
                tensors.append(torch.randn(1, *(int(extent) for extent in text.split("x"))))
        except (ValueError, RuntimeError):
            raise Mistake(f"--input {text}: this describes no sample; write extents as 3x224x224, or tokens:128:50257")
    return tuple(tensors)


def batch_of(example, samples, device):
    """So many samples: those of the example, over and over."""
    def grown(tensor):
        if tensor.dim() == 0:
            raise Mistake("the example input has a tensor without axes; its first axis must count samples")
        rows = torch.arange(samples) % tensor.shape[0]
        return tensor[rows].to(device)
    return mapped(example, grown)


def mapped(value, function):
    """The same tuples, lists and dictionaries with each tensor replaced."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, dict):
        pairs = {key: mapped(member, function) for key, member in value.items()}
        try:
            return type(value)(**pairs) if type(value) is not dict else pairs
        except TypeError:
            return pairs
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(member, function) for member in value))
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(member, function) for member in value)
    return value


def tensors_of(value):
    found = []
    mapped(value, lambda tensor: found.append(tensor) or tensor)
    return found


def has_stack(module):
    """Whether it holds, somewhere inside, a stack of equal blocks that are made of layers themselves."""
    for inner in module.modules():
        if isinstance(inner, (torch.nn.Sequential, torch.nn.ModuleList)):
            kinds = collections.Counter(type(child) for child in inner if any(True for _ in child.children()))
            if kinds and max(kinds.values()) >= 2:
                return True
    return False


def blocks_of(network, opened):
    """The blocks by name, in the order in which they stand in the network."""
    blocks = collections.OrderedDict()

    def visit(prefix, module):
        for name, child in module.named_children():
            full = f"{prefix}{name}"
            lists = isinstance(child, (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict))
            children = any(True for _ in child.children())
            if children and (lists or full in opened or has_stack(child)):
                visit(full + ".", child)
            elif not lists:
                blocks[full] = child

    for name in opened:
        if name not in dict(network.named_modules()):
            raise Mistake(f"--open {name}: the network has no such part; its parts are {', '.join(list(dict(network.named_children()))[:8])}")
    visit("", network)
    if not blocks:
        blocks["network"] = network
    return blocks


# ---- a run of the whole network, in which each call of a block is noted


class Call:
    """One call of a block: what it read, what it made, and what of that is kept."""

    def __init__(self, name, module, function, arguments, keywords):
        self.name, self.module, self.function = name, module, function
        self.arguments, self.keywords = arguments, keywords
        self.output, self.kept, self.reads, self.parameters = None, 0, [], []
        self.wanted = set()  # which tensors of its output another block reads

    def handed_on(self):
        """The tensors that leave it: those that others read, or all where none does, as of the last block."""
        made = tensors_of(self.output)
        return [made[i] for i in sorted(self.wanted)] or made


def storage_of(tensor):
    """Where a tensor's memory begins, and how many bytes it has with all that shares it."""
    if hasattr(tensor, "untyped_storage"):
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    storage = tensor.storage()
    return storage.data_ptr(), storage.nbytes()


def trace(network, blocks, inputs, loss, context):
    """Runs the network once; returns its calls in order. Edges are found by following the histories of tensors."""
    calls, running = [], []
    fixed = {storage_of(t)[0] for t in list(network.parameters()) + list(network.buffers())}
    given = {storage_of(t)[0] for t in tensors_of(inputs)}
    maker_by_tensor, maker_by_history, maker_by_storage = {}, {}, {}
    alive, counted, kept_of_input = [], set(), [0]

    def makers(tensor):
        """The tensors of earlier outputs that this one was made of, as pairs of call and place in its output."""
        if id(tensor) in maker_by_tensor:
            return {maker_by_tensor[id(tensor)]}
        found, seen, waiting = set(), set(), [(tensor.grad_fn, tensor.output_nr)]
        while waiting:
            step = waiting.pop()
            if step[0] is None or step in seen:
                continue
            seen.add(step)
            if step in maker_by_history:
                found.add(maker_by_history[step])
            elif (step[0], None) not in seen:
                seen.add((step[0], None))
                waiting.extend(step[0].next_functions)
        if not found and storage_of(tensor)[0] in maker_by_storage:
            found.add(maker_by_storage[storage_of(tensor)[0]])
        return found

    def called(name, module, function, arguments, keywords):
        if running:  # a block that another block uses
            return function(*arguments, **keywords)
        call = Call(name, module, function, mapped(arguments, lambda t: t), mapped(keywords, lambda t: t))
        reads = set()
        for tensor in tensors_of((arguments, keywords)):
            reads |= makers(tensor)
            alive.append(tensor)
        call.reads = sorted({maker for maker, _ in reads})
        for maker, place in reads:
            calls[maker].wanted.add(place)
        number = len(calls)
        calls.append(call)
        running.append(call)
        try:
            output = function(*arguments, **keywords)
        finally:
            running.pop()
        call.output = output
        for place, tensor in enumerate(tensors_of(output)):
            alive.append(tensor)
            maker_by_tensor[id(tensor)] = (number, place)
            maker_by_storage[storage_of(tensor)[0]] = (number, place)
            if tensor.grad_fn is not None:
                maker_by_history[tensor.grad_fn, tensor.output_nr] = (number, place)
        return output

    def pack(tensor):
        place, size = storage_of(tensor)
        if size and place not in fixed and place not in counted:
            counted.add(place)
            if place in given:
                kept_of_input[0] += size
            elif running and place not in maker_by_storage:
                running[-1].kept += size
            elif calls:
                calls[maker_by_storage.get(place, (len(calls) - 1, 0))[0]].kept += size
        return tensor

    originals = {}
    for name, module in blocks.items():
        originals[name] = module.forward
        module.forward = lambda *a, _n=name, _m=module, _f=module.forward, **k: called(_n, _m, _f, a, k)
    try:
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor), context():
            result = network(*inputs)
            if loss is not None:
                result = called("loss", None, loss, (result,), {})
    finally:
        for name, module in blocks.items():
            module.forward = originals[name]
            del module.__dict__["forward"]  # the class's own again
    if not calls:
        raise Mistake("none of the network's blocks was called; open another with --open, or give the network itself")
    return named(calls, network, blocks), kept_of_input[0]


def named(calls, network, blocks):
    """Gives each call a name of its own, and each parameter to the first call that can have used it."""
    times, owned = collections.Counter(), set()
    for call in calls:
        times[call.name] += 1
        if times[call.name] > 1:
            call.name = f"{call.name}.{times[call.name]}"
        own = list(call.module.parameters()) if call.module is not None else []
        call.parameters = [p for p in own if p.requires_grad and id(p) not in owned]
        owned.update(id(p) for p in own)
    for owner in network.modules():  # parameters of what was opened itself
        for parameter in owner.parameters(recurse=False):
            if parameter.requires_grad and id(parameter) not in owned and owner not in blocks.values():
                calls[0].parameters.append(parameter)
                owned.add(id(parameter))
    return calls


# ---- times


class Clock:
    def __init__(self, device, warm_up, repeats):
        self.cuda = device.type == "cuda"
        self.warm_up, self.repeats = warm_up, repeats

    def seconds(self, function, prepare=lambda: None):
        """The seconds of each repetition; function gets what prepare made, outside the measured time."""
        taken = []
        for repetition in range(self.warm_up + self.repeats):
            prepared = prepare()
            if self.cuda:
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                torch.cuda.synchronize()
                begin.record()
                function(prepared)
                end.record()
                torch.cuda.synchronize()
                seconds = begin.elapsed_time(end) / 1e3
            else:
                start = time.perf_counter()
                function(prepared)
                seconds = time.perf_counter() - start
            if repetition >= self.warm_up:
                taken.append(seconds)
        return taken


def spread(seconds):
    """Half of the middle half's width, as a share of the median."""
    middle = statistics.median(seconds)
    ordered = sorted(seconds)
    quarter = len(ordered) // 4
    return (ordered[-1 - quarter] - ordered[quarter]) / 2 / middle if middle > 0 else 0.0


def optimizer_of(name, parameters):
    """With rate 0: the arithmetic is the same, and the network stays as it is."""
    if name == "adam":
        return torch.optim.Adam(parameters, lr=0.0)
    if name == "rmsprop":
        return torch.optim.RMSprop(parameters, lr=0.0)
    return torch.optim.SGD(parameters, lr=0.0, momentum=0.9 if name == "momentum" else 0.0)


def leaves(value, wanted):
    """The same tensors without history; those that had one get a gradient."""
    numbers = iter(wanted)

    def leaf(tensor):
        return tensor.detach().requires_grad_(next(numbers))
    return mapped(value, leaf)


def measure(call, clock, context, optimizer):
    """Times of one block, and on a GPU the most memory that its passes add."""
    read = (call.arguments, call.keywords)
    wanted = [t.requires_grad and t.is_floating_point() for t in tensors_of(read)]
    arguments, keywords = leaves(read, wanted)
    inputs = [t for t in tensors_of((arguments, keywords)) if t.requires_grad]
    function = call.function

    def forward(_=None):
        with context():
            return function(*arguments, **keywords)

    try:
        forward()
    except RuntimeError as e:
        if "in-place" not in str(e):
            raise
        copied = function  # a block that writes over its input must not write over a leaf

        def function(*a, **k):
            return copied(*mapped(a, lambda t: t.clone()), **mapped(k, lambda t: t.clone()))

    def ready(_=None):
        outputs = [t for t in tensors_of(forward()) if t.requires_grad]
        for tensor in call.parameters + inputs:
            tensor.grad = None
        return outputs, [torch.ones_like(t) for t in outputs]

    times = {"forward": clock.seconds(forward)}
    outputs, _ = ready()
    learnt = call.parameters + ([p for p in call.module.parameters() if p.requires_grad] if call.module is not None else [])
    gradients = list(dict.fromkeys(learnt + inputs))
    peak = None
    if outputs and gradients:
        times["backward"] = clock.seconds(
            lambda made: torch.autograd.backward(made[0], made[1], inputs=gradients), ready)
        if inputs and learnt:
            times["input"] = clock.seconds(
                lambda made: torch.autograd.grad(made[0], inputs, made[1], allow_unused=True), ready)
        if clock.cuda:
            del outputs
            torch.cuda.synchronize()
            before = torch.cuda.memory_allocated()
            torch.cuda.reset_peak_memory_stats()
            made = ready()
            torch.autograd.backward(made[0], made[1], inputs=gradients)
            torch.cuda.synchronize()
            peak = torch.cuda.max_memory_allocated() - before
            del made
    outputs = None
    if call.parameters:
        for parameter in call.parameters:
            parameter.grad = torch.ones_like(parameter)
        rule = optimizer_of(optimizer, call.parameters)
        times["update"] = clock.seconds(lambda _: rule.step())
    for tensor in learnt:
        tensor.grad = None
    return times, {"learns": bool(learnt), "passes_on": bool(inputs), "peak": peak}


def medians(times, facts):
    """forward, backward, weight gradient, update: the four numbers that a profile has."""
    middle = {key: statistics.median(seconds) for key, seconds in times.items()}
    backward = middle.get("backward", 0.0)
    if not facts["learns"]:
        weight = 0.0
    elif not facts["passes_on"]:
        weight = backward
    else:
        weight = max(0.0, backward - middle.get("input", 0.0))
    return middle["forward"], backward, weight, middle.get("update", 0.0)


def whole_step(network, inputs, loss, clock, context, optimizer):
    """Seconds of a step of the whole network, and its peak of memory where that can be told."""
    rule = optimizer_of(optimizer, [p for p in network.parameters() if p.requires_grad])

    def step(_=None):
        rule.zero_grad(set_to_none=True)
        with context():
            output = network(*inputs)
            total = loss(output) if loss is not None else sum(
                t.float().sum() for t in tensors_of(output) if t.requires_grad)
        total.backward()
        rule.step()

    seconds = clock.seconds(step)
    if clock.cuda:
        torch.cuda.reset_peak_memory_stats()
        step()
        torch.cuda.synchronize()
        peak = torch.cuda.max_memory_allocated()
    else:
        peak = resident_peak(step)
    rule.zero_grad(set_to_none=True)
    return statistics.median(seconds), peak


def resident_peak(step):
    """On Linux the most memory of this process during a step; elsewhere nothing."""
    try:
        with open("/proc/self/clear_refs", "w") as reset:
            reset.write("5")
        step()
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return None


# ---- what a block is


def operator_of(call):
    """The operator in the profile's words, where it is one; otherwise a block with its class's name."""
    module, nn = call.module, torch.nn
    if module is None:
        return {"kind": "block", "name": "loss"}
    axes = 3 if "3d" in type(module).__name__ else 2 if "2d" in type(module).__name__ else 1

    def each(value):
        return [int(v) for v in value] if isinstance(value, (tuple, list)) else [int(value)] * axes

    first = next(iter(tensors_of((call.arguments, call.keywords))), None)
    if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)) and not isinstance(module.padding, str):
        return {"kind": "convolution", "in_channels": module.in_channels, "out_channels": module.out_channels,
                "kernel": each(module.kernel_size), "stride": each(module.stride), "padding": each(module.padding),
                "dilation": each(module.dilation), "groups": module.groups, "bias": module.bias is not None}
    if isinstance(module, nn.Linear):
        return {"kind": "linear", "in": module.in_features, "out": module.out_features, "bias": module.bias is not None}
    if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)):
        return {"kind": "normalization", "over": "batch", "features": module.num_features}
    if isinstance(module, nn.LayerNorm):
        features = 1
        for extent in module.normalized_shape:
            features *= extent
        return {"kind": "normalization", "over": "layer", "features": features}
    if isinstance(module, (nn.MaxPool2d, nn.MaxPool3d, nn.AvgPool2d, nn.AvgPool3d)):
        take = "max" if "Max" in type(module).__name__ else "average"
        return {"kind": "pooling", "take": take, "kernel": each(module.kernel_size),
                "stride": each(module.stride or module.kernel_size), "padding": each(module.padding)}
    if isinstance(module, (nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d)) and first is not None:
        if all(extent == 1 for extent in each(module.output_size) if extent is not None):
            window = [int(extent) for extent in first.shape[2:]]
            return {"kind": "pooling", "take": "average", "kernel": window, "stride": window, "padding": [0] * len(window)}
    if isinstance(module, (nn.ReLU, nn.GELU, nn.SiLU, nn.Sigmoid, nn.Tanh, nn.Softmax, nn.Dropout, nn.Identity)):
        return {"kind": "elementwise", "function": type(module).__name__.lower()}
    if isinstance(module, nn.Embedding):
        return {"kind": "embedding", "vocabulary": module.num_embeddings, "features": module.embedding_dim}
    if isinstance(module, nn.LSTM) and module.num_layers == 1 and first is not None and first.dim() == 3:
        return {"kind": "lstm", "in": module.input_size, "hidden": module.hidden_size,
                "bidirectional": module.bidirectional, "sequence": int(first.shape[1 if module.batch_first else 0])}
    return {"kind": "block", "name": type(module).__name__}


def flop_of(call, context):
    """FLOP of a block's forward pass: PyTorch's own count where it has one, else of the products it is made of."""
    def run():
        with context():
            (call.module or call.function)(*call.arguments, **call.keywords)

    with torch.no_grad():
        try:
            from torch.utils.flop_counter import FlopCounterMode
            counter = FlopCounterMode(display=False)
            with counter:
                run()
            return float(counter.get_total_flops())
        except ImportError:
            pass
        counted, hooks = [0.0], []

        def product(module, _, output):
            if isinstance(output, torch.Tensor):
                per_output = module.weight.numel() / module.weight.shape[0]  # of a row of the matrix
                counted[0] += 2.0 * per_output * output.numel()

        for module in (call.module.modules() if call.module is not None else []):
            if isinstance(module, (torch.nn.Linear, torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d)):
                hooks.append(module.register_forward_hook(product))
        try:
            run()
        finally:
            for hook in hooks:
                hook.remove()
        return counted[0]


# ---- the profile


def rounded(seconds):
    return float(f"{seconds:.6g}")


def profile(options):
    device = device_of(options)
    torch.manual_seed(options.seed)
    network, example, loss = load(options.model)
    if options.input:
        example = described_inputs(options.input)
    elif example is None:
        if options.model.startswith("torchvision.models:"):
            example = described_inputs(["3x224x224"])
        else:
            raise Mistake(f"{options.model}: what it reads is not known; give --input, such as 3x224x224 or tokens:128:50257")
    network.to(device).train()
    for module in network.modules():
        if getattr(module, "inplace", False) is True:
            module.inplace = False  # a block on its own cannot write over what another one made
    context = precision_context(options, device)
    clock = Clock(device, options.warm_up, options.repeats)
    tables, kept, details, calls, kept_inputs, whole = [], [], [], None, [], []
    for samples in options.batch:
        inputs = batch_of(example, samples, device)
        try:
            calls, kept_input = trace(network, blocks_of(network, set(options.open)), inputs, loss, context)
            kept.append([call.kept for call in calls])
            kept_inputs.append(kept_input)
            table, facts = [], []
            for call in calls:
                taken, fact = measure(call, clock, context, options.optimizer)
                table.append(medians(taken, fact))
                facts.append(detail(call, taken, fact))
            whole.append(whole_step(network, inputs, loss, clock, context, options.optimizer))
        except Mistake:
            raise
        except torch.cuda.OutOfMemoryError if hasattr(torch.cuda, "OutOfMemoryError") else MemoryError:
            raise Mistake(f"{options.model}: {samples} samples need more memory than {device} has; give smaller ones with --batch")
        except (RuntimeError, ValueError, TypeError, IndexError, AssertionError) as e:
            raise Mistake(f"{options.model}: the network fails on {samples} samples: {first_line(e)}; correct --input or --batch")
        tables.append(table)
        details.append({"samples": samples, "step_s": whole[-1][0], "peak_bytes": whole[-1][1], "blocks": facts})
        print_table(samples, calls, table, facts, whole[-1])
    return written(options, device, calls, inputs, tables, kept, kept_inputs, context), details


def device_of(options):
    if options.device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(options.device)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as e:
        raise Mistake(f"--device {options.device}: PyTorch cannot use it: {first_line(e)}; give cpu or cuda")
    return device


def precision_context(options, device):
    if options.precision == "mixed":  # what autocast takes where nobody says
        options.precision = "fp16" if device.type == "cuda" else "bf16"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = options.precision == "tf32"
    if options.precision in ("fp32", "tf32"):
        return contextlib.nullcontext
    kind = torch.float16 if options.precision == "fp16" else torch.bfloat16
    return lambda: torch.autocast(device_type=device.type, dtype=kind)


def detail(call, taken, fact):
    entry = {"name": call.name, "peak_bytes": fact["peak"]}
    for key, seconds in taken.items():
        entry[key + "_s"] = {"median": statistics.median(seconds), "least": min(seconds),
                             "most": max(seconds), "spread": spread(seconds)}
    return entry


def per_sample(sizes, batches):
    """What each further sample adds, from the smallest batch to the largest."""
    if len(batches) == 1:
        return sizes[0] / batches[0]
    return max(0.0, (sizes[-1] - sizes[0]) / (batches[-1] - batches[0]))


def plain(number):
    return int(number) if float(number).is_integer() else float(number)


def written(options, device, calls, inputs, tables, kept, kept_inputs, context):
    largest, element = options.batch[-1], 2 if options.precision in ("fp16", "bf16") else 4
    layers, edges = [], []
    floats = [t for t in tensors_of(inputs) if t.is_floating_point()]
    if floats:
        elements = sum(t.numel() for t in floats) // largest
        held = per_sample(kept_inputs, options.batch)
        layers.append({"name": "input", "operator": {"kind": "input"}, "parameters": 0,
                       "output_elements": elements, "kept_elements": int(held // 4),
                       "output_bytes": 4 * elements, "kept_bytes": plain(held), "parameter_bytes": 0})
        if len(floats) == 1:
            layers[0]["output_shape"] = [int(extent) for extent in floats[0].shape[1:]] or [1]
    for number, call in enumerate(calls):
        layers.append(layer(call, number, largest, element, kept, options.batch, context))
        reads = [calls[i].name for i in call.reads]
        edges.extend([name, call.name] for name in reads)
        if not reads and floats:
            edges.append(["input", call.name])
        elif not reads and number > 0:
            edges.append([calls[number - 1].name, call.name])  # nothing else says where it belongs
    pad = [0.0] if floats else []
    batches = []
    for samples, table in zip(options.batch, tables):
        columns = [pad + [rounded(row[column]) for row in table] for column in range(4)]
        batches.append({"samples": samples, "forward_s": columns[0], "backward_s": columns[1],
                        "weight_gradient_s": [min(w, b) for w, b in zip(columns[2], columns[1])],
                        "update_s": columns[3]})
    return {"format": FORMAT, "version": VERSION, "model": options.name or options.model.rpartition(":")[2],
            "provenance": {"source": f"pipewright_profile.py, PyTorch {torch.__version__}, medians of {options.repeats}",
                           "device": device_name(device), "date": datetime.date.today().isoformat(), "measured": True},
            "precision": options.precision,
            "training": {"optimizer": options.optimizer, "precision": options.precision},
            "layers": layers, "edges": edges, "batches": batches}


def layer(call, number, largest, element, kept, batches, context):
    outputs = call.handed_on()
    elements = sum(t.numel() for t in outputs) // largest
    size = sum(t.numel() * t.element_size() for t in outputs) / largest
    held = per_sample([row[number] for row in kept], batches)
    count = sum(p.numel() for p in call.parameters)
    flop = flop_of(call, context) / largest
    learns = call.module is not None and any(p.requires_grad for p in call.module.parameters())
    read = sum(t.numel() for t in tensors_of((call.arguments, call.keywords))) / largest
    made = {"name": call.name, "operator": operator_of(call)}
    if len(outputs) == 1 and outputs[0].dim() > 1 and outputs[0].shape[0] == largest:
        made["output_shape"] = [int(extent) for extent in outputs[0].shape[1:]]
    made.update({"parameters": count, "output_elements": elements, "kept_elements": int(held // element),
                 "work": {"forward_flop": plain(flop), "input_gradient_flop": plain(flop),
                          "weight_gradient_flop": plain(flop if learns else 0), "forward_elements": plain(read + elements)},
                 "output_bytes": plain(size), "kept_bytes": plain(held), "parameter_bytes": element * count})
    return made


def device_name(device):
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    name = "CPU"
    with contextlib.suppress(OSError):
        with open("/proc/cpuinfo") as facts:
            name = next((line.split(":")[1].strip() for line in facts if line.startswith("model name")), name)
    return f"{name}, {torch.get_num_threads()} thread(s)"


def print_table(samples, calls, table, facts, whole):
    say = lambda line: print(line, file=sys.stderr)
    say(f"{samples} samples{'':>20} forward ms  backward  weights   update   spread  kept MB")
    for call, row, fact in zip(calls, table, facts):
        noise = max((value["spread"] for key, value in fact.items() if key in ("forward_s", "backward_s")), default=0)
        say(f"  {call.name[:28]:<28} {row[0] * 1e3:10.3f} {row[1] * 1e3:9.3f} {row[2] * 1e3:8.3f} {row[3] * 1e3:8.3f}"
            f" {noise * 100:6.1f} % {call.kept / 1e6:8.2f}")
    total = sum(row[0] + row[1] + row[3] for row in table)
    peak = "" if whole[1] is None else f", peak {whole[1] / 1e6:.0f} MB"
    say(f"  all blocks {total * 1e3:.3f} ms of a step's {whole[0] * 1e3:.3f} ms ({100 * total / whole[0]:.0f} %){peak}")


# ---- links


def exchanges(world, device):
    """Each collective by its name: a function of a buffer of so many bytes, which gives what to run again and again."""
    dist = torch.distributed

    def buffer(size):
        return torch.ones(max(world, size // 4), device=device)

    def all_reduce(size):
        whole = buffer(size)
        return whole.numel() * 4, lambda: dist.all_reduce(whole)

    def all_gather(size):
        part = buffer(size // world)[: max(1, size // 4 // world)].contiguous()
        parts = [torch.empty_like(part) for _ in range(world)]
        return part.numel() * 4 * world, lambda: dist.all_gather(parts, part)

    def reduce_scatter(size):
        part = buffer(size // world)[: max(1, size // 4 // world)].contiguous()
        parts = [part.clone() for _ in range(world)]
        return part.numel() * 4 * world, lambda: dist.reduce_scatter(part, parts)

    def all_to_all(size):
        count = max(1, size // 4 // world) * world
        given, taken = torch.ones(count, device=device), torch.empty(count, device=device)
        return count * 4, lambda: dist.all_to_all_single(taken, given)

    def point_to_point(size):
        whole = torch.ones(max(1, size // 4), device=device)

        def there_and_back():
            if dist.get_rank() == 0:
                dist.send(whole, 1)
                dist.recv(whole, 1)
            elif dist.get_rank() == 1:
                dist.recv(whole, 0)
                dist.send(whole, 0)
        return whole.numel() * 4, there_and_back

    return [("all_reduce", all_reduce, 1), ("all_gather", all_gather, 1), ("reduce_scatter", reduce_scatter, 1),
            ("all_to_all", all_to_all, 1), ("point_to_point", point_to_point, 2)]


def links_worker(rank, world, address, options):
    """One of the processes that exchange messages; the first one writes the table."""
    dist = torch.distributed
    cuda = torch.cuda.is_available() and torch.cuda.device_count() >= min(world, options.local_processes)
    device = torch.device("cuda", rank % torch.cuda.device_count()) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    elif world > 1:
        torch.set_num_threads(max(1, (os.cpu_count() or 1) // world))
    dist.init_process_group("nccl" if cuda else "gloo", init_method=address, rank=rank, world_size=world)

    def wait():
        if cuda:
            torch.cuda.synchronize()

    rows = []
    for name, make, messages in exchanges(world, device):
        for size in options.sizes:
            try:
                taken_bytes, run = make(size)
                run()
                wait()
            except RuntimeError as e:  # the transport does not have it
                if rank == 0:
                    print(f"{name} is left out: {first_line(e)}", file=sys.stderr)
                break
            seconds, in_a_row = [], max(1, min(10, 2**20 // size))  # ranks leave a barrier one after the other
            for repetition in range(options.warm_up + options.repeats):
                dist.barrier()
                wait()
                start = time.perf_counter()
                for _ in range(in_a_row):
                    run()
                wait()
                if repetition >= options.warm_up:
                    seconds.append((time.perf_counter() - start) / messages / in_a_row)
            middle = torch.tensor([statistics.median(seconds)], dtype=torch.float64, device=device)
            if name != "point_to_point":
                dist.all_reduce(middle, op=dist.ReduceOp.MAX)
            rows.append((name, 2 if name == "point_to_point" else world, taken_bytes, middle.item()))
    if rank == 0:
        with open(options.links, "w") as table:
            table.write("machine,collective,devices,bytes,time_us\n")
            for name, devices, size, seconds in rows:
                table.write(f"{options.machine},{name},{devices},{size},{seconds * 1e6:.6g}\n")
        print(f"{options.links}: {len(rows)} timings of {world} processes over {'NCCL' if cuda else 'Gloo'}", file=sys.stderr)
    dist.barrier()
    dist.destroy_process_group()


def links(options):
    if not torch.distributed.is_available():
        raise Mistake("--links: this PyTorch was built without torch.distributed; take another build")
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:  # torchrun has started us
        world = int(os.environ["WORLD_SIZE"])
        options.local_processes = int(os.environ.get("LOCAL_WORLD_SIZE", world))
        rank, address = int(os.environ["RANK"]), "env://"
        if world < 2:
            raise Mistake("--links: one process has no links; start two or more")
        links_worker(rank, world, address, options)
        return
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    world = options.processes or (gpus if gpus >= 2 else 2)
    if world < 2:
        raise Mistake(f"--processes {world}: one process has no links; give 2 or more")
    options.local_processes = world
    import tempfile
    folder = tempfile.mkdtemp()
    meeting = os.path.join(folder, "meeting")
    try:
        torch.multiprocessing.start_processes(
            links_worker, (world, "file://" + meeting, options), nprocs=world, start_method="spawn")
    except Exception as e:  # of another process: the last line of its report says what it was
        raise Mistake(f"--links: a process failed: {(str(e).strip().splitlines() or ['no reason given'])[-1]}; try fewer --processes or other --sizes")
    finally:
        with contextlib.suppress(OSError):
            os.remove(meeting)
        with contextlib.suppress(OSError):
            os.rmdir(folder)


# ---- the command line


def numbers(text):
    try:
        found = sorted({int(part) for part in text.split(",")})
    except ValueError:
        found = []
    if not found or found[0] < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no list of whole numbers >= 1 such as 1,2,4")
    return found


def count(text):
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number >= 1")
    return int(text)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Mistake(message + "; --help lists what there is")


def parsed(arguments):
    parser = Parser(prog="pipewright_profile.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", metavar="MODEL")
    parser.add_argument("--input", action="append", default=[], metavar="SAMPLE", help="3x224x224 or tokens:STEPS:VOCABULARY; once for each input")
    parser.add_argument("--batch", type=numbers, default=[1, 2, 4, 8], metavar="N,N", help="samples to measure with (default 1,2,4,8)")
    parser.add_argument("--open", action="append", default=[], metavar="NAME", help="measure the children of this part one by one")
    parser.add_argument("--device", default="auto", help="cpu, cuda or cuda:1 (default: a GPU where there is one)")
    parser.add_argument("--precision", choices=["fp32", "tf32", "bf16", "fp16", "mixed"], default="fp32", help="mixed: fp16 on a GPU, bf16 on a CPU (default fp32)")
    parser.add_argument("--optimizer", choices=["sgd", "momentum", "rmsprop", "adam"], default="adam")
    parser.add_argument("--warm-up", type=count, default=3, metavar="N")
    parser.add_argument("--repeats", type=count, default=11, metavar="N")
    parser.add_argument("--threads", type=count, metavar="N", help="of a CPU; PyTorch's choice otherwise")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--name", help="what the network is called in the profile")
    parser.add_argument("--out", metavar="FILE", help="where the profile goes (default: standard output)")
    parser.add_argument("--details", metavar="FILE", help="all medians, spreads and peaks as JSON")
    parser.add_argument("--links", metavar="FILE", help="measure collectives between processes instead; CSV for `pipewright calibrate`")
    parser.add_argument("--processes", type=count, metavar="N", help="with --links: how many (default: one for each GPU, or 2)")
    parser.add_argument("--sizes", type=numbers, metavar="N,N", default=[4 ** k for k in range(5, 14)], help="with --links: bytes of the messages")
    parser.add_argument("--machine", default="here", help="with --links: what the table calls this machine")
    return parser.parse_args(arguments)


def check_writable(path):
    """Before hours are spent on measuring."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path) or not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise Mistake(f"{path}: cannot be written; give a file in an existing folder")


def save(path, text):
    try:
        with open(path, "w") as file:
            file.write(text)
    except OSError as e:
        raise Mistake(f"{path}: cannot be written: {e.strerror}; give another file")


def main(arguments):
    try:
        options = parsed(arguments)
        if options.threads:
            torch.set_num_threads(options.threads)
        for path in (options.out, options.details, options.links):
            if path:
                check_writable(path)
        if options.links:
            links(options)
            return 0
        if not options.model:
            raise Mistake("no network given; write PACKAGE.MODULE:NAME or FILE.py:NAME")
        made, details = profile(options)
        text = json.dumps(made, indent=1) + "\n"
        if options.out:
            save(options.out, text)
        else:
            sys.stdout.write(text)
        if options.details:
            save(options.details, json.dumps({"model": made["model"], "provenance": made["provenance"], "batches": details}, indent=1) + "\n")
        return 0
    except Mistake as e:
        print(f"pipewright_profile: {e}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
