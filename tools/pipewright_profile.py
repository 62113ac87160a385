#!/usr/bin/env python3
"""Measures a PyTorch network block by block, and writes a profile that Pipewright plans with.

    python3 pipewright_profile.py torchvision.models:resnet50 --out resnet50.json
    python3 pipewright_profile.py mine.py:build --input tokens:128:50257 --batch 1,2,4 --out gpt.json
    python3 pipewright_profile.py --links links.csv --processes 4
    torchrun --nproc-per-node 8 pipewright_profile.py --links links.csv

    ./pipewright plan resnet50.json --cluster dgx-h100 --global-batch 256
    ./pipewright calibrate links.csv --cluster dgx-h100 --level machine --out here

    python3 pipewright_profile.py mine.py:build --batch 8 --out mine.json --trace trace.json.gz
    ./pipewright import trace.json.gz

It needs PyTorch (1.13 or newer) and nothing else; copy it to where the GPUs are.

MODEL is PACKAGE.MODULE:NAME or FILE.py:NAME. NAME is a module, or a class or function that gives a module, or
(module, example input), or (module, example input, loss), where loss(output) gives one number and is a layer of its own.
The example's first axis counts samples; where there is none, --input says what a sample is.

A block is a child of the network; Sequential and ModuleList are opened, and so is what holds a stack of equal blocks.
--open NAME opens one more. What the network calls between blocks is seen, too, however it is spelled (torch.relu(x),
x.flatten(1), x + y): what the profile has an operator for is a layer of its own, and other operations that follow one
another are one layer, a block with their names. Pipewright trains a profile whose layers are all operators; of a block
it knows sizes and times only. An operation that PyTorch does not report, such as a custom autograd function outside of
a block, is refused.

Per layer: the forward pass, the gradient of the input, the rest of the backward pass (what only the update waits for)
and the optimizer's step; what is saved for the backward pass, counted once and with the layer that made it; on a GPU,
the peak. Times are medians of interleaved rounds: CUDA events on a GPU; on a CPU the clock, and with --threads 1 that of
the thread, which stands still while other processes run. What calling a layer on its own adds is taken off, and the
update is that of the whole network, shared out. Layers that do not add up to a step of the whole network within 25 % are
measured twice more, longer, and then refused; else their times are stretched to that step, as it says.
"""

import os
import signal
import sys

interrupts = []


def interrupted():
    """Says that Ctrl-C ends the program, and gives its exit status."""
    print("pipewright_profile: interrupted; no file is half-written, so start it again", file=sys.stderr, flush=True)
    return 130


def ends_at_once(number, frame):
    """While PyTorch is loaded, whose compiled parts turn an exception into another one."""
    os._exit(interrupted() if __name__ == "__main__" else 130)  # of several processes the first one says it


def ends_by_exception(number, frame):
    interrupts.append(number)
    raise KeyboardInterrupt


if __name__ in ("__main__", "__mp_main__"):
    signal.signal(signal.SIGINT, ends_at_once)

import argparse
import collections
import contextlib
import dataclasses
import datetime
import gzip
import importlib
import importlib.util
import json
import statistics
import time

if "--threads" in sys.argv[:-1]:  # OpenBLAS reads it once, when it is loaded
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, sys.argv[sys.argv.index("--threads") + 1])

try:
    import torch
except ImportError:
    sys.exit("pipewright_profile: PyTorch is not installed for this Python; run it with one that has torch")

if not hasattr(torch.overrides, "TorchFunctionMode"):
    sys.exit(f"pipewright_profile: PyTorch {torch.__version__} does not report its functions; use 1.13 or newer")

if __name__ in ("__main__", "__mp_main__"):
    signal.signal(signal.SIGINT, ends_by_exception)

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
    if is_data(value):
        return dataclasses.replace(value, **{f.name: mapped(getattr(value, f.name), function) for f in dataclasses.fields(value)})
    if isinstance(value, torch.Size):
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(member, function) for member in value))
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(member, function) for member in value)
    return value


def tensors_of(value):
    """All tensors in tuples, lists, dictionaries and data classes, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif is_data(value):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif not isinstance(value, (tuple, list)):
        return []
    return [tensor for member in value for tensor in tensors_of(member)]


def is_data(value):
    return dataclasses.is_dataclass(value) and not isinstance(value, (type, dict))


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


# ---- a run of the whole network, in which each call of a block and each operation between blocks is noted


class Event:
    """One call in a run: of a block, or of a function of PyTorch that the network calls itself."""

    def __init__(self, name, module, function, arguments, keywords):
        self.name, self.module, self.function = name, module, function
        self.arguments, self.keywords = arguments, keywords
        self.made, self.kept, self.number = [], 0, -1
        self.position = -1  # among all calls of a run, also those that make no tensor
        self.makers = {}  # of the tensors that it reads, by id: event and place in its output; None for the network's input
        self.wanted = set()  # which tensors of its output others read
        self.readers = []  # events and places; of what the network gives, nothing in place of an event

    def parameters(self):
        if self.module is not None:
            return list(self.module.parameters())
        return [t for t in tensors_of((self.arguments, self.keywords)) if isinstance(t, torch.nn.Parameter)]

    def read(self):
        return [t for t in tensors_of((self.arguments, self.keywords)) if id(t) in self.makers]

    def __str__(self):
        return self.name


class Call:
    """A layer of the profile: events that run one after the other, what they read and what leaves them."""

    def __init__(self, events, operator):
        self.events, self.operator = events, operator
        self.name, self.module = events[-1].name, events[-1].module
        self.kept = sum(event.kept for event in events)
        inside = {id(event) for event in events}
        self.reads, self.inputs = [], []  # the events it reads, and their tensors
        for event in events:
            for tensor in event.read():
                maker = event.makers[id(tensor)]
                if maker is None or id(maker[0]) not in inside:
                    self.reads.append(maker and maker[0])
                    if not any(tensor is known for known in self.inputs):
                        self.inputs.append(tensor)
        self.parameters = []

    def owned(self):
        return list({id(p): p for event in self.events for p in event.parameters()}.values())

    def run(self, tensors, dry=False):
        """Once more, with other tensors in place of those that it read; returns what leaves it. Dry: computes nothing."""
        now = {id(old): new for old, new in zip(self.inputs, tensors)}
        left = []
        for event in self.events:
            arguments, keywords = mapped((event.arguments, event.keywords), lambda t: now.get(id(t), t))
            made = event.made if dry else made_by(event.function, arguments, keywords)
            now.update({id(old): new for old, new in zip(event.made, made)})
            left += [t for place, t in enumerate(made) if leaves(event, place, self.events)]
        return left

    def handed_on(self):
        return [t for event in self.events for place, t in enumerate(event.made) if leaves(event, place, self.events)]


def leaves(event, place, events):
    """Whether a tensor is read by others than these events, or nothing of its event is read at all."""
    return not event.wanted or any(at == place and reader not in events for reader, at in event.readers)


def made_by(function, arguments, keywords):
    """The tensors that a function makes; of an assignment to a part of a tensor, that tensor."""
    output = function(*arguments, **keywords)
    return [arguments[0]] if is_assignment(function) else tensors_of(output)


def is_assignment(function):
    return getattr(function, "__name__", "") == "__setitem__"


def storage_of(tensor):
    """Where a tensor's memory begins, and how many bytes it has with all that shares it."""
    storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
    return storage.data_ptr(), storage.nbytes()


@contextlib.contextmanager
def watched(network, blocks, noted, running):
    """Has each call of a block, and of a function outside of blocks, go through noted(name, module, function, arguments,
    keywords), which makes the call and lists it as running meanwhile."""
    owners = []

    class Functions(torch.overrides.TorchFunctionMode):
        """Sees each function of PyTorch that is called outside of blocks, in whatever way it is spelled."""

        def __torch_function__(self, function, types, arguments=(), keywords=None):
            keywords = keywords or {}
            if running:
                return function(*arguments, **keywords)
            name = getattr(function, "__name__", "operation").strip("_")
            name = {"get": "attribute", "getitem": "index", "setitem": "assign"}.get(name, name)
            return noted(".".join(owners[-1:] + [name]), None, function, arguments, keywords)

    def block(name, module, forward):
        def called(*arguments, **keywords):
            if running:  # a block that another block uses
                return forward(*arguments, **keywords)
            return noted(name, module, forward, arguments, keywords)
        return called

    def opened(name, forward):
        def called(*arguments, **keywords):
            owners.append(name)
            try:
                return forward(*arguments, **keywords)
            finally:
                owners.pop()
        return called

    wrapped = []
    try:
        for name, module in network.named_modules():
            if any(module is each for each in blocks.values()):
                name = next(each for each in blocks if blocks[each] is module)
                module.forward = block(name, module, module.forward)
            elif module is not network and any(each.startswith(name + ".") for each in blocks):
                module.forward = opened(name, module.forward)
            else:
                continue
            wrapped.append(module)
        with Functions():
            yield
    finally:
        for module in wrapped:
            del module.__dict__["forward"]  # the class's own again


def trace(network, blocks, inputs, loss, context):
    """Runs the network once; returns its events in order and the bytes that are kept of its input."""
    events, running, seen = [], [], []
    fixed = {storage_of(t)[0] for t in list(network.parameters()) + list(network.buffers())}
    learnt = {id(p) for p in network.parameters()}
    given = {storage_of(t)[0] for t in tensors_of(inputs)}
    maker_of = {id(t): None for t in tensors_of(inputs)}  # by tensor: event and place
    maker_of_storage, alive, counted, kept_of_input = {}, [inputs], set(), [0]
    without_history = set()  # tensors that had none when they were made

    def noted(name, module, function, arguments, keywords):
        event = Event(name, module, function if module is None else module, mapped(arguments, lambda t: t), mapped(keywords, lambda t: t))
        event.position = len(seen)
        seen.append(name)
        running.append(event)  # whatever is called meanwhile is part of it
        try:
            read = tensors_of((arguments, keywords))
            alive.append(read)
            for tensor in read:
                if hidden(tensor):
                    raise Mistake(f"{name} reads what an operation made that PyTorch does not report, such as a custom autograd"
                                  " function; call that operation in a module of its own")
                if id(tensor) in maker_of:
                    event.makers[id(tensor)] = maker_of[id(tensor)]
            output = function(*arguments, **keywords)
            event.made = [arguments[0]] if is_assignment(function) else tensors_of(output)
            if event.made and (event.makers or event.parameters()):  # otherwise a number, or a constant
                record(event)
            elif module is not None and not event.made:
                raise Mistake(f"{name} gives {type(output).__name__} without a tensor; give tensors in tuples, lists or dictionaries")
            return output
        finally:
            running.pop()

    def hidden(tensor):
        """Whether it has a history that none of the events made."""
        if tensor.grad_fn is None or id(tensor) in learnt:
            return False
        return id(tensor) not in maker_of or id(tensor) in without_history

    def record(event):
        for maker in event.makers.values():
            if maker is not None:
                maker[0].wanted.add(maker[1])
                maker[0].readers.append((event, maker[1]))
        for place, tensor in enumerate(event.made):
            alive.append(tensor)
            maker_of[id(tensor)] = event, place
            maker_of_storage.setdefault(storage_of(tensor)[0], event)
            if tensor.grad_fn is None:
                without_history.add(id(tensor))
            else:
                without_history.discard(id(tensor))
        event.number = len(events)
        events.append(event)

    def pack(tensor):
        place, size = storage_of(tensor)
        if size and place not in fixed and place not in counted:
            counted.add(place)
            if place in given:
                kept_of_input[0] += size
            elif running and place not in maker_of_storage:
                running[-1].kept += size
            elif place in maker_of_storage:
                maker_of_storage[place].kept += size
            elif events:
                events[-1].kept += size
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor), context(), watched(network, blocks, noted, running):
        result = network(*inputs)
        if loss is not None:
            result = noted("loss", None, loss, (result,), {})
        for event, place in (maker_of[id(t)] for t in tensors_of(result) if maker_of.get(id(t)) is not None):
            event.wanted.add(place)
            event.readers.append((None, place))  # the user
    if not events:
        raise Mistake("the network calls nothing that could be measured; give one that computes something")
    return events, kept_of_input[0]


# ---- the layers of the profile


def layers_of(events):
    """Each operator a layer of its own; other operations between blocks that follow one another are one layer.

    A flattening is part of the product that it is for, as the profile's linear layer flattens what it reads. What depends
    on parameters alone is computed by each layer that reads it."""
    calls, open_segment = [], None
    derived, waiting = {}, {}
    for event in events:
        if event.module is None and event.name != "loss" and not from_input(event, derived):
            derived[id(event)] = event
            continue
        first = prelude(event, derived)
        if flattens_for_product(event):
            waiting[id(event.readers[0][0])] = waiting.pop(id(event), []) + first + [event]
            continue
        chain = waiting.pop(id(event), [])
        operator = None if first else operator_of(event, chain)
        own = chain + first + [event]
        if event.module is None and event.name != "loss" and operator is None:
            if open_segment is not None and not chain:
                known = {id(e) for e in open_segment}
                open_segment += [e for e in own if id(e) not in known]
            else:
                open_segment = own
                calls.append(open_segment)
            continue
        open_segment = None
        calls.append((own, operator))
    made = [Call(*each) if isinstance(each, tuple) else Call(each, None) for each in calls]
    if not made:
        raise Mistake("the network computes nothing of its input; give one that does")
    return named(made)


def from_input(event, derived):
    return any(maker is None or id(maker[0]) not in derived for maker in event.makers.values())


def prelude(event, derived):
    """What an event reads that depends on parameters alone, in order."""
    found = []
    for maker in event.makers.values():
        if maker is not None and id(maker[0]) in derived and maker[0] not in found:
            found += [each for each in prelude(maker[0], derived) if each not in found] + [maker[0]]
    return found


def named(calls):
    """Gives each call a name of its own, and each parameter to the first call that uses it; notes the calls that share."""
    times, owner = collections.Counter(), {}
    for call in calls:
        if call.operator is None and call.module is None:
            inner = list(dict.fromkeys(event.name for event in call.events))
            call.name = inner[0] if len(inner) == 1 else f"{inner[0]} to {inner[-1].rpartition('.')[2]}"
        times[call.name] += 1
        if times[call.name] > 1:
            call.name = f"{call.name}.{times[call.name]}"
        shared = [owner[id(p)] for p in call.owned() if id(p) in owner]
        if shared:
            call.operator = {"kind": "block", "name": f"{kind_of(call)} with the parameters of {shared[0]}"}
        elif any(not p.requires_grad for p in call.owned()):
            call.operator = {"kind": "block", "name": f"{kind_of(call)} with parameters that do not learn"}
        call.parameters = [p for p in call.owned() if p.requires_grad and id(p) not in owner]
        owner.update({id(p): call.name for p in call.owned() if id(p) not in owner})
        call.operator = call.operator or {"kind": "block", "name": kind_of(call)}
    return calls


def kind_of(call):
    return type(call.module).__name__ if call.module is not None else call.name.rpartition(".")[2] if len(call.events) == 1 else call.name


# ---- what an operation is


UNARY = {"relu": "relu", "relu_": "relu", "tanh": "tanh", "tanh_": "tanh", "gelu": "gelu", "dropout": "dropout", "dropout_": "dropout"}
MODULES = {"ReLU": "relu", "Tanh": "tanh", "GELU": "gelu", "Dropout": "dropout"}


def function_name(event):
    return getattr(event.function, "__name__", "") if event.module is None else ""


def is_plain(module):
    """Whether a module does what its class says: no hooks, and no parameters that are computed from others."""
    return not (module._forward_hooks or module._forward_pre_hooks or hasattr(module, "parametrizations"))


def elementwise_of(event):
    """The function that is applied to each element, where it is one that the runtime knows."""
    if event.module is not None:
        exact = getattr(event.module, "approximate", "none") == "none"
        return MODULES.get(type(event.module).__name__) if is_plain(event.module) and exact else None
    return UNARY.get(function_name(event)) if event.keywords.get("approximate", "none") == "none" else None


def flattens(event):
    """Whether it makes one row of features of each sample's map."""
    if event.module is not None:
        is_one = type(event.module) is torch.nn.Flatten and is_plain(event.module)
    else:
        is_one = function_name(event) in ("flatten", "view", "reshape")
    read = event.read()
    return (is_one and len(read) == 1 and len(event.made) == 1 and event.made[0].dim() == 2 and read[0].dim() > 2
            and event.made[0].shape[0] == read[0].shape[0] and event.made[0].is_contiguous())


def flattens_for_product(event):
    """Whether all that becomes of it, perhaps after functions of each element, is read by one product."""
    if not flattens(event):
        return False
    while len(event.readers) == 1 and event.readers[0][0] is not None:
        event = event.readers[0][0]
        if type(event.module) is torch.nn.Linear or function_name(event) == "linear":
            return operator_of(event, []) is not None
        if elementwise_of(event) is None:
            return False
    return False


def operator_of(event, flattened):
    """The operator in the profile's words, where it is one that does the same; nothing otherwise."""
    read = event.read()
    if event.wanted - {0} or not event.made or (event.module is None and len(event.made) != 1):
        return None
    if function_name(event) in ("add", "add_", "__add__", "__radd__", "__iadd__"):
        return sum_of(event, read)
    if function_name(event) in ("cat", "concat", "concatenate"):
        return concatenation_of(event, read)
    if len(read) != 1:
        return None
    if elementwise_of(event) is not None:
        return {"kind": "elementwise", "function": elementwise_of(event)}
    if event.module is None:
        return functional_of(event, read[0])
    return module_of(event.module, read[0]) if is_plain(event.module) else None


def sum_of(event, read):
    """Two different tensors of one shape, or one and a learned row for each step."""
    if event.keywords or len(event.arguments) != 2:
        return None
    if len(read) == 2:
        apart = event.makers[id(read[0])] != event.makers[id(read[1])]
        return {"kind": "elementwise", "function": "add"} if apart and read[0].shape == read[1].shape else None
    parameters = event.parameters()
    if len(read) == 1 and len(parameters) == 1 and read[0].dim() == 3 and parameters[0].numel() == read[0][0].numel() \
            and parameters[0].shape[-2:] == read[0].shape[-2:]:
        return {"kind": "positions", "steps": int(read[0].shape[1]), "features": int(read[0].shape[2])}
    return None


def concatenation_of(event, read):
    parts = event.arguments[0] if event.arguments else ()
    axis = event.arguments[1] if len(event.arguments) > 1 else event.keywords.get("dim", event.keywords.get("axis", 0))
    places = [event.makers[id(t)] for t in read]
    if axis != 1 or len(read) != len(parts) or None in places or any(t.dim() < 3 for t in read):
        return None
    makers = [maker for maker, _ in places]
    ascending = all(a.number < b.number for a, b in zip(makers, makers[1:]))
    return {"kind": "concatenation"} if ascending else None


def listed(value, axes):
    return [int(v) for v in value] if isinstance(value, (tuple, list)) else [int(value)] * axes


def pooling(take, axes, kernel, stride, padding):
    return {"kind": "pooling", "take": take, "kernel": listed(kernel, axes),
            "stride": listed(kernel if stride is None or stride == [] else stride, axes), "padding": listed(padding, axes)}


def pooling_to(size, shape):
    """Down to one place."""
    if all(extent == 1 for extent in listed(size, len(shape) - 2)):
        window = [int(extent) for extent in shape[2:]]
        return pooling("average", len(window), window, window, 0)
    return None


def functional_of(event, read):
    """Of a function that takes its weights or its window as arguments."""
    name = function_name(event)
    values = dict(zip(("input", "first", "second", "third", "fourth", "fifth"), event.arguments))
    if name == "linear" and len(event.parameters()) == len(event.arguments) + len(event.keywords) - 1 - (values.get("second", event.keywords.get("bias", 0)) is None):
        weight = values.get("first", event.keywords.get("weight"))
        return {"kind": "linear", "in": int(weight.shape[1]), "out": int(weight.shape[0]), "bias": len(event.parameters()) == 2}
    if name == "softmax":
        axis = values.get("first", event.keywords.get("dim"))
        return {"kind": "elementwise", "function": "softmax"} if axis in (-1, read.dim() - 1) and event.keywords.get("dtype") is None else None
    if name in ("adaptive_avg_pool2d", "adaptive_avg_pool3d"):
        return pooling_to(values.get("first", event.keywords.get("output_size")), read.shape)
    if name in ("max_pool2d", "max_pool3d", "avg_pool2d", "avg_pool3d"):
        keys = ("kernel_size", "stride", "padding")
        window = [values.get(place, event.keywords.get(key)) for place, key in zip(("first", "second", "third"), keys)]
        plain = len(event.arguments) <= 4 or all(not v or v == 1 for v in event.arguments[4:6]) and name.startswith("max")
        usual = {"dilation": (1, (1, 1), [1, 1]), "ceil_mode": (False,), "count_include_pad": (True,), "return_indices": (False,), "divisor_override": (None,)}
        plain = plain and all(v in usual[k] for k, v in event.keywords.items() if k in usual)
        return pooling("max" if name.startswith("max") else "average", int(name[-2]), window[0], window[1], window[2] or 0) if plain else None
    return None


def module_of(module, read):
    """Of a module of exactly this class, with settings that the profile's operators have."""
    nn, kind = torch.nn, type(module)
    if kind in (nn.Conv1d, nn.Conv2d, nn.Conv3d) and not isinstance(module.padding, str) and module.padding_mode == "zeros":
        return {"kind": "convolution", "in_channels": module.in_channels, "out_channels": module.out_channels,
                "kernel": list(module.kernel_size), "stride": list(module.stride), "padding": list(module.padding),
                "dilation": list(module.dilation), "groups": module.groups, "bias": module.bias is not None}
    if kind is nn.Linear:
        return {"kind": "linear", "in": module.in_features, "out": module.out_features, "bias": module.bias is not None}
    if kind in (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm) and module.affine and module.eps == 1e-5:
        return {"kind": "normalization", "over": "batch", "features": module.num_features}
    if kind is nn.LayerNorm and module.elementwise_affine and module.eps == 1e-5 and len(module.normalized_shape) == 1:
        return {"kind": "normalization", "over": "layer", "features": int(module.normalized_shape[0])}
    if kind in (nn.MaxPool2d, nn.MaxPool3d) and listed(module.dilation, 1) == [1] and not (module.ceil_mode or module.return_indices):
        return pooling("max", int(kind.__name__[-2]), module.kernel_size, module.stride, module.padding)
    if kind in (nn.AvgPool2d, nn.AvgPool3d) and not module.ceil_mode and module.count_include_pad and module.divisor_override is None:
        return pooling("average", int(kind.__name__[-2]), module.kernel_size, module.stride, module.padding)
    if kind in (nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d):
        return pooling_to(module.output_size, read.shape)
    if kind is nn.Softmax and module.dim in (-1, read.dim() - 1):
        return {"kind": "elementwise", "function": "softmax"}
    if kind is nn.Embedding and module.padding_idx is None and module.max_norm is None:
        return {"kind": "embedding", "vocabulary": module.num_embeddings, "features": module.embedding_dim}
    if kind is nn.LSTM and module.num_layers == 1 and module.batch_first and module.bias and not module.proj_size and read.dim() == 3:
        return {"kind": "lstm", "in": module.input_size, "hidden": module.hidden_size,
                "bidirectional": module.bidirectional, "sequence": int(read.shape[1])}
    return None


def flop_of(call, context):
    """FLOP of a layer's forward pass: PyTorch's own count where it has one, else of the products it is made of."""
    inputs = [tensor.detach() for tensor in call.inputs]  # PyTorch's counter looks for the history of what requires a gradient
    with torch.no_grad(), context():
        try:
            from torch.utils.flop_counter import FlopCounterMode
            counter = FlopCounterMode(display=False)
            with counter:
                call.run(inputs)
            return float(counter.get_total_flops())
        except ImportError:
            pass
        counted = [0.0]

        class Products(torch.overrides.TorchFunctionMode):
            def __torch_function__(self, function, types, arguments=(), keywords=None):
                output = function(*arguments, **(keywords or {}))
                name = getattr(function, "__name__", "")
                tensors = tensors_of((arguments, keywords))
                if name in ("linear", "conv1d", "conv2d", "conv3d"):
                    counted[0] += 2.0 * tensors[1].numel() / tensors[1].shape[0] * output.numel()
                elif name in ("matmul", "__matmul__", "mm", "bmm"):
                    counted[0] += 2.0 * tensors[0].shape[-1] * output.numel()
                return output

        with Products():
            call.run(inputs)
        return counted[0]


# ---- times


class Clock:
    """Takes a time of everything that is measured in turn, round after round, so that what disturbs hits all alike."""

    def __init__(self, device, warm_up, repeats):
        self.cuda = device.type == "cuda"
        self.warm_up, self.repeats = warm_up, repeats
        self.now = time.thread_time if torch.get_num_threads() == 1 else time.perf_counter

    def once(self, function, prepare):
        """Seconds of a function, which gets what prepare made outside the measured time."""
        prepared = prepare()
        if not self.cuda:
            start = self.now()
            function(prepared)
            return self.now() - start
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        function(prepared)
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / 1e3

    def rounds(self, timers):
        """The seconds of each repetition, by the timer's key; a timer is a function and what prepares it."""
        taken = {key: [] for key in timers}
        for repetition in range(self.warm_up + self.repeats):
            for key, (function, prepare) in timers.items():
                seconds = self.once(function, prepare)
                if repetition >= self.warm_up:
                    taken[key].append(seconds)
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


def nothing():
    return None


class Layer:
    """A layer on its own: the same work on tensors without history."""

    def __init__(self, call, clock, context, optimizer):
        self.call, self.clock, self.context = call, clock, context
        self.inputs = [t.detach().requires_grad_(t.requires_grad and t.is_floating_point()) for t in call.inputs]
        self.learnt = [p for p in call.owned() if p.requires_grad]
        self.passes_on = [t for t in self.inputs if t.requires_grad]
        self.copies = False
        try:
            self.outputs = [t for t in self.forward() if t.requires_grad]
        except RuntimeError as e:
            if "in-place" not in str(e):
                raise
            self.copies = True  # a layer that writes over its input must not write over a leaf
            self.outputs = [t for t in self.forward() if t.requires_grad]
        self.outputs = bool(self.outputs)
        self.rule = optimizer_of(optimizer, call.parameters) if call.parameters else None

    def forward(self, _=None):
        with self.context():
            return self.call.run([t.clone() for t in self.inputs] if self.copies else self.inputs)

    def ready(self):
        outputs = [t for t in self.forward() if t.requires_grad]
        for tensor in self.learnt + self.passes_on:
            tensor.grad = None
        return outputs, [torch.ones_like(t) for t in outputs]

    def backward(self, made):
        torch.autograd.backward(made[0], made[1], inputs=self.learnt + self.passes_on)

    def with_gradients(self):
        for parameter in self.call.parameters:
            if parameter.grad is None:
                parameter.grad = torch.ones_like(parameter)

    def timers(self):
        """forward, harness (what measuring adds to it), backward, its part for the inputs, and the update."""
        timers = {"forward": (self.forward, nothing), "harness": (lambda _: self.call.run(self.inputs, dry=True), nothing)}
        if self.outputs and self.learnt + self.passes_on:
            timers["backward"] = (self.backward, self.ready)
            if self.passes_on and self.learnt:
                timers["input"] = (lambda made: torch.autograd.grad(made[0], self.passes_on, made[1], allow_unused=True), self.ready)
        if self.rule is not None:
            timers["update"] = (lambda _: self.rule.step(), self.with_gradients)
        return timers

    def peak(self):
        """On a GPU the most memory that its passes add."""
        if not (self.clock.cuda and self.outputs and self.learnt + self.passes_on):
            return None
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        self.backward(self.ready())
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before


class WholeStep:
    """A step of the whole network, its update alone, and what starting a backward pass costs whatever there is to do."""

    def __init__(self, network, inputs, loss, context, optimizer):
        self.network, self.inputs, self.loss, self.context = network, inputs, loss, context
        self.parameters = [p for p in network.parameters() if p.requires_grad]
        self.rule = optimizer_of(optimizer, self.parameters) if self.parameters else None
        self.ones = [torch.ones_like(t) for t in self.outputs()]
        self.probe = torch.zeros(1, device=next(iter(tensors_of(inputs))).device, requires_grad=True)

    def outputs(self):
        with self.context():
            output = self.network(*self.inputs)
            return [t for t in tensors_of(output if self.loss is None else self.loss(output)) if t.requires_grad]

    def step(self, _=None):
        """The gradients of the results are there: no loss is made up where the user gives none."""
        outputs = self.outputs()
        if outputs:
            torch.autograd.backward(outputs, self.ones)
        if self.rule is not None:
            self.rule.step()

    def without_gradients(self):
        for parameter in self.parameters:
            parameter.grad = None

    def with_gradients(self):
        for parameter in self.parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)

    def timers(self):
        timers = {"step": (self.step, self.without_gradients),
                  "start": (lambda one: torch.autograd.backward([self.probe], [one], inputs=[self.probe]),
                            lambda: torch.ones_like(self.probe))}
        if self.rule is not None:
            timers["update"] = (lambda _: self.rule.step(), self.with_gradients)
        return timers

    def peak(self, cuda):
        if cuda:
            torch.cuda.reset_peak_memory_stats()
            self.step()
            torch.cuda.synchronize()
            return torch.cuda.max_memory_allocated()
        return resident_peak(self.step)


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


TOLERANCE = 0.25
ATTEMPTS = 3


def measured(network, calls, inputs, loss, clock, context, optimizer):
    """The table of the layers' times, what was taken of each, and of the whole step the seconds, the peak and what layers add up to.

    Refuses times that do not add up to those of the whole step within the tolerance: twice it measures again, longer."""
    whole = WholeStep(network, inputs, loss, context, optimizer)
    layers = [Layer(call, clock, context, optimizer) for call in calls]
    for attempt in range(ATTEMPTS):
        timers = {(-1, key): timer for key, timer in whole.timers().items()}
        for number, each in enumerate(layers):
            timers.update({(number, key): timer for key, timer in each.timers().items()})
        taken = clock.rounds(timers)
        middle = {key: statistics.median(seconds) for key, seconds in taken.items()}
        table = [medians(number, each, middle) for number, each in enumerate(layers)]
        updates = sum(row[3] for row in table)
        share = middle.get((-1, "update"), 0.0) / updates if updates > 0 else 0.0
        table = [(forward, backward, weight, update * share) for forward, backward, weight, update in table]
        total = sum(row[0] + row[1] + row[3] for row in table)
        if abs(total / middle[-1, "step"] - 1) <= TOLERANCE:
            break
        clock = Clock(torch.device("cuda" if clock.cuda else "cpu"), clock.warm_up, 2 * clock.repeats)
    else:
        samples = tensors_of(inputs)[0].shape[0]
        raise Mistake(f"the layers' times on {samples} sample{'' if samples == 1 else 's'} add up to {total * 1e3:.3g} ms,"
                      f" {100 * total / middle[-1, 'step']:.0f} % of a step's {middle[-1, 'step'] * 1e3:.3g} ms, which must be within"
                      f" {100 * TOLERANCE:.0f} %; measure on a quiet machine, or more samples with --batch")
    facts = [{key: taken[number, key] for key in each.timers()} for number, each in enumerate(layers)]
    peaks = [each.peak() for each in layers]
    step = middle[-1, "step"], whole.peak(clock.cuda), total
    table = stretched(table, total, middle[-1, "step"])
    for parameter in network.parameters():
        parameter.grad = None
    return table, [detail(call, fact, peak) for call, fact, peak in zip(calls, facts, peaks)], step


def stretched(table, total, step):
    """Times multiplied by one factor, so that they add up to the step."""
    return [tuple(seconds * step / total for seconds in row) for row in table] if total > 0 else table


def medians(number, layer, middle):
    """forward, backward, weight gradient, update: the four numbers that a profile has.

    Without what calling a layer on its own adds: replacing tensors in front of the forward pass, starting a backward pass."""
    start = middle[-1, "start"]
    forward = max(0.0, middle[number, "forward"] - middle[number, "harness"])
    backward = max(0.0, middle.get((number, "backward"), 0.0) - start)
    if not layer.learnt:
        weight = 0.0
    elif not layer.passes_on:
        weight = backward
    else:
        weight = max(0.0, backward - max(0.0, middle.get((number, "input"), 0.0) - start))
    return forward, backward, weight, middle.get((number, "update"), 0.0)


# ---- steps under PyTorch's profiler

QUIET = 0.98


def traced_steps(options, network, blocks, calls, inputs, loss, context, device):
    """Records steps of the whole network, in which each layer's calls lie in a range with the layer's name."""
    range_of = {event.position: call.name for call in reversed(calls) for event in call.events}
    running, position = [], [0]

    def marked(name, module, function, arguments, keywords):
        layer = range_of.get(position[0])
        position[0] += 1
        running.append(name)
        try:
            with torch.profiler.record_function(layer) if layer else contextlib.nullcontext():
                return function(*arguments, **keywords)
        finally:
            running.pop()

    parameters = [p for p in network.parameters() if p.requires_grad]
    rule = optimizer_of(options.optimizer, parameters) if parameters else None
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device.type == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    steps = options.repeats + 1  # readers leave the first one out

    def recorded():
        """A profiler that has seen all steps, and the share of their time in which this thread ran."""
        profiler = torch.profiler.profile(
            activities=activities, record_shapes=True, schedule=torch.profiler.schedule(wait=0, warmup=1, active=steps, repeat=1))
        wall = thread = 0.0
        with profiler:
            for _ in range(1 + steps):
                for parameter in parameters:
                    parameter.grad = None
                position[0] = 0
                begun = time.perf_counter(), time.thread_time()
                with context(), watched(network, blocks, marked, running):
                    output = network(*inputs)
                    if loss is not None:
                        output = marked("loss", None, loss, (output,), {})
                outputs = [t for t in tensors_of(output) if t.requires_grad]
                if outputs:
                    torch.autograd.backward(outputs, [torch.ones_like(t) for t in outputs])
                if rule is not None:
                    rule.step()
                wall, thread = wall + time.perf_counter() - begun[0], thread + time.thread_time() - begun[1]
                profiler.step()
        return profiler, thread / wall

    alone = device.type != "cuda" and torch.get_num_threads() == 1
    profiler, share = recorded()
    for _ in range(1, ATTEMPTS):  # the profiler takes the clock's time, also that in which others had the processor
        if not alone or share >= QUIET:
            break
        profiler, share = max((profiler, share), recorded(), key=lambda each: each[1])
    if alone and share < QUIET:
        print(f"pipewright_profile: warning: other processes had the processor for {100 * (1 - share):.0f} % of the steps in"
              f" {options.trace}, which its times include; trace on a quiet machine", file=sys.stderr)
    for parameter in parameters:
        parameter.grad = None
    export(profiler, options.trace)


def export(profiler, path):
    """Whole or not at all, as save() writes text."""
    target = os.path.realpath(path)
    fresh = os.path.join(os.path.dirname(target), f".{os.getpid()}.{os.path.basename(target)}")  # its ending says whether it is gzipped
    try:
        with replacing(target, fresh):
            if torch.profiler.kineto_available():
                profiler.export_chrome_trace(fresh)
            else:
                with (gzip.open if path.endswith(".gz") else open)(fresh, "wt") as file:
                    json.dump({"traceEvents": kineto_events(profiler.events())}, file)
    except OSError as e:
        raise Mistake(f"{path}: cannot be written: {e.strerror}; give another file")


@contextlib.contextmanager
def replacing(target, fresh):
    """Puts the file that the block writes in the place of another, or removes it where the block fails."""
    try:
        yield
        os.replace(fresh, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(fresh)
        raise


def kineto_events(events):
    """What a PyTorch that was built without Kineto, such as Debian's, has recorded, in the form that Kineto writes: its own
    export leaves out the sequence numbers, which say to which layer a backward pass belongs."""
    made, steps = [], 0
    for event in events:
        name = event.name
        if name.startswith("ProfilerStep"):
            name, steps = f"ProfilerStep#{steps}", steps + 1
        arguments = {}
        if event.sequence_nr >= 0:
            arguments["Sequence number"] = event.sequence_nr
        if event.input_shapes:
            arguments["Input Dims"] = event.input_shapes
        made.append({"ph": "X", "cat": "user_annotation" if event.scope == 7 else "cpu_op", "name": name, "pid": os.getpid(),
                     "tid": event.thread, "ts": event.time_range.start, "dur": event.time_range.elapsed_us(), "args": arguments})
    return made


# ---- the profile


def rounded(seconds):
    return float(f"{seconds:.6g}")


def profile(options):
    device = device_of(options)
    torch.zeros(1, device=device, requires_grad=True).mul(2).backward()  # or cuBLAS warns that this thread has no context
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
            blocks = blocks_of(network, set(options.open))
            events, kept_input = trace(network, blocks, inputs, loss, context)
            before, calls = calls, layers_of(events)
            if before is not None and [call.name for call in before] != [call.name for call in calls]:
                raise Mistake(f"{options.model}: the network computes other layers for {samples} samples than for fewer; give one --batch")
            kept.append([call.kept for call in calls])
            kept_inputs.append(kept_input)
            table, facts, step = measured(network, calls, inputs, loss, clock, context, options.optimizer)
            whole.append(step)
            if options.trace and samples == options.batch[-1]:
                traced_steps(options, network, blocks, calls, inputs, loss, context, device)
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


def detail(call, taken, peak):
    entry = {"name": call.name, "peak_bytes": peak}
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
    layer_of = {id(event): call.name for call in reversed(calls) for event in call.events}
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
        reads = list(dict.fromkeys("input" if event is None else layer_of[id(event)] for event in call.reads))
        reads = [name for name in reads if name != "input" or floats]
        edges.extend([name, call.name] for name in reads)
        if not reads and number > 0:
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
    learns = any(p.requires_grad for p in call.owned())
    read = sum(t.numel() for t in call.inputs) / largest
    made = {"name": call.name, "operator": call.operator}
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
    step, peak, total = whole
    peak = "" if peak is None else f"; its peak is {peak / 1e6:.0f} MB"
    say(f"  layers took {total * 1e3:.3f} ms, {100 * total / step:.0f} % of a step's {step * 1e3:.3f} ms, to which their times are stretched{peak}")


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
        table = ["machine,collective,devices,bytes,time_us\n"]
        for name, devices, size, seconds in rows:
            table.append(f"{options.machine},{name},{devices},{size},{seconds * 1e6:.6g}\n")
        save(options.links, "".join(table))
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
    parser.add_argument("--trace", metavar="FILE", help="record steps with most samples under torch.profiler, for `pipewright import`: .json or .json.gz")
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
    """Whole or not at all: into a new file beside it, which takes its name once it is on the disk."""
    try:
        if os.path.abspath(path).startswith("/dev/") or (os.path.exists(path) and not os.path.isfile(path)):
            with open(path, "w") as stream:  # a pipe or a terminal has no name to give away
                stream.write(text)
            return
        target = os.path.realpath(path)
        fresh = os.path.join(os.path.dirname(target), f".{os.path.basename(target)}.{os.getpid()}.new")
        with replacing(target, fresh), open(fresh, "x") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as e:
        raise Mistake(f"{path}: cannot be written: {e.strerror}; give another file")


def main(arguments):
    try:
        options = parsed(arguments)
        if options.threads:
            torch.set_num_threads(options.threads)
        for path in (options.out, options.details, options.trace, options.links):
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
        if interrupts:  # which PyTorch made another exception of
            return interrupted()
        print(f"pipewright_profile: {e}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return interrupted()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
