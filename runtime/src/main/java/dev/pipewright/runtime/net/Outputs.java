package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Outputs of layers within a part, whole or a worker's part of each, as readers need them; one is
 * made of the other once, at the first request. Freed after the last read.
 */
final class Outputs {
  private final Network network;
  private final long samples;
  private final int[] left; // readers of each layer
  private final @Nullable Tensor[] whole; // by layer of the graph
  private final @Nullable Tensor[] own; // likewise
  private final @Nullable Tensor[] given; // the caller's

  /**
   * @param samples of a whole output
   * @param readers of each layer's
   */
  Outputs(Network network, long samples, int[] readers) {
    this.network = network;
    this.samples = samples;
    this.left = readers;
    this.whole = new Tensor[readers.length];
    this.own = new Tensor[readers.length];
    this.given = new Tensor[readers.length];
  }

  /**
   * Takes what comes in, which stays the caller's.
   *
   * @param asWhole also where the layer's output is cut
   */
  void comes(int layer, Tensor value, boolean asWhole) {
    given[layer] = value;
    put(layer, value, network.cut(layer) && !asWhole);
  }

  /** Takes what a layer has made. */
  void made(int layer, Tensor value) {
    put(layer, value, network.cut(layer));
  }

  private void put(int layer, Tensor value, boolean cut) {
    if (cut) {
      own[layer] = value;
    } else {
      whole[layer] = value;
    }
  }

  /** A layer's output, which lives until its last reader has read it. */
  Tensor of(int layer, boolean cut) {
    @Nullable Tensor[] wanted = cut ? own : whole;
    Tensor found = wanted[layer];
    if (found == null) {
      try (Scope scope = new Scope()) {
        Tensor made = cut ? cut(layer) : gathered(layer);
        found = made.shared();
      }
      wanted[layer] = found;
    }
    return found;
  }

  private Tensor cut(int layer) {
    return new GroupCommunication(network.copy())
        .own(present(whole[layer]), network.cutOf(layer, samples));
  }

  private Tensor gathered(int layer) {
    return new GroupCommunication(network.copy())
        .gathered(present(own[layer]), network.cutOf(layer, samples));
  }

  private static Tensor present(@Nullable Tensor tensor) {
    if (tensor == null) {
      throw new IllegalStateException("a layer is read before it has made anything");
    }
    return tensor;
  }

  /** A reader has read it. */
  void read(int layer) {
    if (--left[layer] == 0) {
      close(own[layer], given[layer]);
      close(whole[layer], given[layer]);
    }
  }

  private static void close(@Nullable Tensor tensor, @Nullable Tensor given) {
    if (tensor != null && tensor != given) {
      tensor.close();
    }
  }
}
