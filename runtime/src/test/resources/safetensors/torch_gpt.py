"""Builds a small GPT of torch.nn modules, loads a file into it and prints scores of fixed tokens."""
import os
import sys

import torch
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from read import read

LAYERS, HIDDEN, HEADS, SEQUENCE, WORDS = 2, 16, 4, 8, 31


class Embedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(WORDS, HIDDEN))
        self.positions = nn.Parameter(torch.empty(SEQUENCE, HIDDEN))

    def forward(self, tokens):
        return self.weight[tokens] + self.positions


class Half(nn.Module):
    """Normalisation, a product into an inner width, and one back."""

    def __init__(self, inner):
        super().__init__()
        self.scale = nn.Parameter(torch.empty(HIDDEN))
        self.shift = nn.Parameter(torch.empty(HIDDEN))
        self.add_module("in", nn.Linear(HIDDEN, inner[0]))
        self.out = nn.Linear(inner[1], HIDDEN)

    def begin(self, states):
        return getattr(self, "in")(nn.functional.layer_norm(states, (HIDDEN,), self.scale, self.shift))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Half((3 * HIDDEN, HIDDEN))
        self.perceptron = Half((4 * HIDDEN, 4 * HIDDEN))

    def forward(self, states):
        samples = states.shape[0]
        three = self.attention.begin(states).chunk(3, dim=2)
        query, key, value = (t.reshape(samples, SEQUENCE, HEADS, -1).transpose(1, 2) for t in three)
        scores = query @ key.transpose(2, 3) / (HIDDEN // HEADS) ** 0.5
        later = torch.ones(SEQUENCE, SEQUENCE).triu(1).bool()
        mixed = scores.masked_fill(later, float("-inf")).softmax(3) @ value
        states = states + self.attention.out(mixed.transpose(1, 2).reshape(samples, SEQUENCE, HIDDEN))
        return states + self.perceptron.out(nn.functional.gelu(self.perceptron.begin(states)))


class Head(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.scale = nn.Parameter(torch.empty(HIDDEN))
        self.shift = nn.Parameter(torch.empty(HIDDEN))
        self.weight = table

    def forward(self, states):
        return nn.functional.layer_norm(states, (HIDDEN,), self.scale, self.shift) @ self.weight.T


def main():
    tensors, metadata = read(sys.argv[1])
    state = {name: torch.tensor(values).reshape(shape) for name, (_, shape, values) in tensors.items()}
    for copy, kept in metadata.items():  # as safetensors.torch.load_model finds tied tensors
        if kept in state:
            state[copy] = state[kept]
    net = nn.Sequential()
    net.add_module("embedding", Embedding())
    for layer in range(1, LAYERS + 1):
        net.add_module("block-%d" % layer, Block())
    net.add_module("head", Head(net.embedding.weight))
    net.load_state_dict(state, strict=True)
    tokens = torch.arange(3 * SEQUENCE).reshape(3, SEQUENCE) * 7 % WORDS
    with torch.no_grad():
        for score in net(tokens).flatten().tolist():
            print("%.9e" % score)


if __name__ == "__main__":
    main()
