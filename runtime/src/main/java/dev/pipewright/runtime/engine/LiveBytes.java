package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.tensor.History;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.tensor.TensorArena;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What a worker's tensors take up at a moment, by what they are for. Memory that several share
 * counts once, for what comes first in {@link Kind}.
 */
public final class LiveBytes {
  /** What a tensor is for. */
  public enum Kind {
    /** All versions of them, or a worker's part. */
    PARAMETERS,
    /** What the update rule remembers. */
    OPTIMIZER,
    /** Gradients of parameters, and sums of these. */
    GRADIENTS,
    /** What a micro-batch leaves for its backward pass, and where that begins. */
    ACTIVATIONS,
    /** What is on its way to other workers, and room for what comes from them. */
    MESSAGES
  }

  private final Map<Kind, Long> bytes = new EnumMap<>(Kind.class);
  private final Set<Long> seen = new HashSet<>(); // addresses

  LiveBytes() {
    for (Kind kind : Kind.values()) {
      bytes.put(kind, 0L);
    }
  }

  void add(Kind kind, Tensor tensor) {
    long size = TensorArena.bytes(tensor);
    if (size > 0) {
      add(kind, History.memory(tensor), size);
    }
  }

  void add(Kind kind, Collection<Tensor> tensors) {
    tensors.forEach(tensor -> add(kind, tensor));
  }

  /** What a history keeps: {@link History#kept}. */
  void addKept(Kind kind, Map<Long, Long> kept) {
    kept.forEach((address, size) -> add(kind, address, size));
  }

  private void add(Kind kind, long address, long size) {
    if (address != 0 && seen.add(address)) {
      bytes.merge(kind, size, Long::sum);
    }
  }

  public long of(Kind kind) {
    return bytes.getOrDefault(kind, 0L);
  }

  public long all() {
    return bytes.values().stream().mapToLong(Long::longValue).sum();
  }
}
