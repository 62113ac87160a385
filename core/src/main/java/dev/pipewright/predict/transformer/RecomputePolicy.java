package dev.pipewright.predict.transformer;

import dev.pipewright.units.Check;
import java.util.Set;

/**
 * What the backward pass recomputes instead of reading it.
 *
 * <p>Source: V. Korthikanti et al., <i>Reducing activation recomputation in large transformer
 * models</i>, MLSys 2023, arXiv:2205.05198.
 */
public sealed interface RecomputePolicy {
  /** As users write it: {@code none}, {@code full}, or {@code selective} for all between. */
  default String word() {
    return switch (this) {
      case None none -> "none";
      case Full full -> "full";
      case Selective selective -> "selective";
      case PerOperator policy -> "selective";
      case HalfOfBlocks half -> "selective";
    };
  }

  /** Parts of a layer that Megatron-LM's {@code --recompute-modules} names. */
  enum Module {
    CORE_ATTN,
    MLP,
    MOE,
    MLA_UP_PROJ,
    LAYERNORM,
    MOE_ACT
  }

  /** Which results a policy of per-operator granularity recomputes. */
  enum Operators {
    /** All but results of matrix products (JAX's {@code SAVE_DOT_ONLY}). */
    ALL_BUT_PRODUCTS,
    /** Every second product and what is element-wise; attention is kept (torchtitan). */
    EVERY_SECOND_PRODUCT
  }

  /** Nothing. */
  record None() implements RecomputePolicy {}

  /**
   * Whole layers from their inputs.
   *
   * @param layers of a pipeline rank (or of a chunk) that are recomputed; 0 for all
   * @param perChunk whether they count per chunk
   */
  record Full(int layers, boolean perChunk) implements RecomputePolicy {
    public Full {
      Check.that(layers >= 0, "recomputed layers=%d; write a number >= 0", layers);
    }
  }

  /** Some parts of each layer. */
  record Selective(Set<Module> modules) implements RecomputePolicy {
    public Selective {
      modules = Set.copyOf(modules);
    }

    boolean has(Module module) {
      return modules.contains(module);
    }
  }

  /** Results chosen operator by operator. */
  record PerOperator(Operators operators) implements RecomputePolicy {}

  /** Half of the layers. */
  record HalfOfBlocks() implements RecomputePolicy {}
}
