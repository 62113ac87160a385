package dev.pipewright.predict.transformer;

import dev.pipewright.predict.transformer.RecomputePolicy.Full;
import dev.pipewright.predict.transformer.RecomputePolicy.HalfOfBlocks;
import dev.pipewright.predict.transformer.RecomputePolicy.Module;
import dev.pipewright.predict.transformer.RecomputePolicy.None;
import dev.pipewright.predict.transformer.RecomputePolicy.PerOperator;
import dev.pipewright.predict.transformer.RecomputePolicy.Selective;

/**
 * Seconds that the backward pass repeats of a forward pass. Shares of modules are of a layer's
 * products and element-wise work, as their arithmetic suggests.
 */
final class RecomputedSeconds {
  private RecomputedSeconds() {}

  static PassSeconds of(
      TransformerRun run, TransformerSizes sizes, PassSeconds forward, boolean mixture) {
    return switch (run.recompute()) {
      case None none -> PassSeconds.NONE;
      case Full full -> forward.times(share(full, run.layout(), sizes));
      case HalfOfBlocks half -> forward.times(0.5);
      case PerOperator policy ->
          switch (policy.operators()) {
            case ALL_BUT_PRODUCTS -> part(0, forward, forward.elementwise(), forward.casts(), 0);
            case EVERY_SECOND_PRODUCT ->
                part(
                    forward.products() / 2,
                    PassSeconds.NONE,
                    forward.elementwise(),
                    forward.casts() / 2,
                    0);
          };
      case Selective selective -> modules(selective, run.fusedAttention(), forward, mixture);
    };
  }

  private static double share(Full full, TrainingLayout layout, TransformerSizes sizes) {
    if (full.layers() == 0) {
      return 1;
    }
    double held = (double) sizes.layers() / layout.pipeline();
    return Math.min(
        1, full.layers() / Math.max(1, held / (full.perChunk() ? layout.interleave() : 1)));
  }

  private static PassSeconds modules(
      Selective policy, boolean fused, PassSeconds forward, boolean mixture) {
    double products = 0;
    double elementwise = 0;
    double casts = 0;
    double exchange = 0;
    if (policy.has(Module.MLP)) {
      products += 0.3 * forward.products();
      elementwise += 0.2 * forward.elementwise();
    }
    if (policy.has(Module.MOE) && mixture) {
      products += 0.7 * forward.products();
      elementwise += 0.7 * forward.elementwise();
      casts += 0.7 * forward.casts();
      exchange += 0.7 * forward.allToAll();
    }
    if (policy.has(Module.MLA_UP_PROJ)) {
      products += 0.1 * forward.products();
    }
    if (policy.has(Module.LAYERNORM) || policy.has(Module.MOE_ACT)) {
      elementwise += 0.25 * forward.elementwise();
    }
    boolean core = policy.has(Module.CORE_ATTN) || !fused;
    return part(products, core ? forward : PassSeconds.NONE, elementwise, casts, exchange);
  }

  private static PassSeconds part(
      double products, PassSeconds core, double elementwise, double casts, double exchange) {
    return new PassSeconds(
        products, core.attention(), elementwise, casts, 0, core.contextParallel(), exchange, 0);
  }
}
