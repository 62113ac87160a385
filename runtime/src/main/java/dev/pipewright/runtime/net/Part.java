package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Consecutive layers of a network: what lies between two cuts. Through a cut go the outputs of all
 * layers before it that a later part reads; one that is read further on passes through.
 */
public final class Part {
  private final Network network;
  private final int[] layers; // of the graph, each after those that it reads
  private final int[] inputs; // layers before whose outputs go through the first cut
  private final int[] outputs; // likewise through the last
  private final boolean begins; // with whole tensors
  private final boolean ends;

  Part(Network network, int[] layers, int[] inputs, int[] outputs, boolean begins, boolean ends) {
    this.begins = begins;
    this.ends = ends;
    this.network = network;
    this.layers = layers;
    this.inputs = inputs;
    this.outputs = outputs;
  }

  /** How many tensors come in; none where the network begins. */
  public int inputs() {
    return inputs.length;
  }

  public int outputs() {
    return outputs.length;
  }

  /** Room for an incoming tensor or its gradient. It belongs to the scope that is open. */
  public Tensor emptyInput(int input, long samples) {
    long[] shape = network.between(inputs[input], samples);
    return network.whole(inputs[input]) ? Tensor.emptyWhole(shape) : Tensor.emptyPacked(shape);
  }

  /** An uninitialized tensor for an output. */
  public Tensor emptyOutput(int output, long samples) {
    long[] shape = network.between(outputs[output], samples);
    return network.whole(outputs[output]) ? Tensor.emptyWhole(shape) : Tensor.emptyPacked(shape);
  }

  /** Whether the parts before wait for the gradient of an incoming tensor. */
  public boolean inputNeedsGradient(int input) {
    return network.differentiable(inputs[input]);
  }

  /** Whether a tensor that goes out has a gradient that comes back. */
  public boolean outputHasGradient(int output) {
    return network.differentiable(outputs[output]);
  }

  /** Whether the network ends with it. */
  public boolean last() {
    return Arrays.stream(outputs).allMatch(layer -> network.graph().successors(layer).length == 0);
  }

  /** The words that the last of its outputs has scores of, where the group divides them. */
  public Optional<ScoresPart> scores() {
    return network.scores(outputs[outputs.length - 1]);
  }

  /** Extents of the last output of all workers of a group together. */
  long[] wholeShape(long samples) {
    return network.shape(outputs[outputs.length - 1], samples);
  }

  /** Whether a layer of the graph is one of its own. */
  public boolean contains(int layer) {
    return Arrays.stream(layers).anyMatch(own -> own == layer);
  }

  /** Whether one of its layers reads the samples themselves. */
  public boolean readsData() {
    return Arrays.stream(layers).anyMatch(layer -> network.graph().predecessors(layer).length == 0);
  }

  /** What its layers learn, in the layers' order. */
  public List<Parameter> parameters() {
    return ofModules(Module::parameters);
  }

  /** Running averages of its layers. */
  public List<Parameter> averages() {
    return ofModules(Module::averages);
  }

  private List<Parameter> ofModules(Function<Module, List<Parameter>> of) {
    return Arrays.stream(layers)
        .mapToObj(network::module)
        .flatMap(module -> of.apply(module).stream())
        .toList();
  }

  /** The same of as many samples as whole tensors come in with. */
  public List<Tensor> forward(List<Tensor> incoming, List<Tensor> data, ForwardPass pass) {
    long samples = (incoming.isEmpty() ? data : incoming).get(0).extent(0);
    return forward(incoming, data, samples, pass);
  }

  /**
   * The tensors that go out. Others are freed after their last read, but for what the backward pass
   * needs.
   *
   * @param incoming through the first cut
   * @param data the samples themselves: a tensor for each layer of the network that reads no other
   * @param samples of the pass, of which members may have some
   */
  public List<Tensor> forward(
      List<Tensor> incoming, List<Tensor> data, long samples, ForwardPass pass) {
    Outputs values = new Outputs(network, samples, readers());
    for (int i = 0; i < inputs.length; i++) {
      values.comes(inputs[i], incoming.get(i), begins && !network.staysCut(inputs[i]));
    }
    for (int layer : layers) {
      int[] read = network.graph().predecessors(layer);
      List<Tensor> arguments = new ArrayList<>(Math.max(1, read.length));
      for (int from : read) {
        arguments.add(values.of(from, network.cut(layer)));
      }
      if (read.length == 0) {
        Tensor whole = data.get(network.source(layer));
        arguments.add(network.own(whole, layer));
      }
      try (Scope scope = new Scope()) {
        Tensor made = network.module(layer).forward(arguments, pass);
        Tensor kept = arguments.contains(made) ? scope.keep(made.passed()) : made.shared();
        values.made(layer, kept);
      }
      for (int from : read) {
        values.read(from);
      }
    }
    List<Tensor> outgoing = new ArrayList<>(outputs.length);
    for (int layer : outputs) {
      Tensor value = values.of(layer, network.cut(layer) && (!ends || network.staysCut(layer)));
      outgoing.add(incoming.contains(value) ? value.passed() : value.lent());
      values.read(layer);
    }
    for (int layer : inputs) {
      values.read(layer);
    }
    return outgoing;
  }

  /** How often each of its layers' outputs is read; never 0 in the end where it goes out. */
  private int[] readers() {
    int[] readers = new int[network.graph().size()];
    for (int layer : layers) {
      for (int from : network.graph().predecessors(layer)) {
        readers[from]++;
      }
    }
    for (int kept : outputs) {
      readers[kept]++;
    }
    for (int kept : inputs) { // until the end
      readers[kept]++;
    }
    return readers;
  }
}
