package dev.pipewright.predict.transformer;

import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.AttentionShape.Latent;
import dev.pipewright.predict.transformer.GemmTime.Linear;
import dev.pipewright.predict.transformer.NumberFormats.Products;

/**
 * Seconds of one layer for one micro-batch on one GPU.
 *
 * <p>Sources: D. Narayanan et al., SC 2021, arXiv:2104.04473, §2.3 (tensor parallelism); V.
 * Korthikanti et al., arXiv:2205.05198, §4.2 (sequence parallelism); T. Dao,
 * <i>FlashAttention-2</i>, arXiv:2307.08691 (the backward pass of attention takes 2.5 forward
 * passes); H. Liu et al., <i>Ring attention</i>, arXiv:2310.01889 (context parallelism). Bytes of
 * element-wise kernels are counted from a layer's tensors in half precision.
 */
final class LayerTime {
  private static final double HALF = 2; // bytes of an element
  private static final double KERNEL = 3.5e-6; // seconds of a GPU to start one
  private static final double FORWARD_KERNELS = 18;
  private static final double BACKWARD_KERNELS = 36;
  private static final double SOFTMAX = 14; // of a fused score, in multiplications
  private static final double FLASH_BACKWARD = 2.5;
  private static final double DENSE_POWER = 6; // of the mean of device and host seconds
  private static final double MIXTURE_POWER = 2;
  private static final double HOST_EXPERTS = 16; // local experts of the calibrated host seconds

  /** Seconds of a layer; {@code recomputed} is what the backward pass repeats. */
  record LayerSeconds(PassSeconds forward, PassSeconds backward, PassSeconds recomputed) {
    static final LayerSeconds NONE =
        new LayerSeconds(PassSeconds.NONE, PassSeconds.NONE, PassSeconds.NONE);

    double backwardTotal() {
      return backward.total() + recomputed.total();
    }

    double total() {
      return forward.total() + backwardTotal();
    }
  }

  private record Pair(double forward, double backward) {
    Pair plus(double moreForward, double moreBackward) {
      return new Pair(forward + moreForward, backward + moreBackward);
    }
  }

  private final TransformerRun run;
  private final TransformerSizes sizes;
  private final TrainingLayout layout;
  private final StackConstants constants;
  private final GemmTime gemm;
  private final CollectiveTime collectives;
  private final double tokens; // n
  private final double hidden; // h
  private final double tensor; // t
  private final double bandwidth; // of the device memory

  LayerTime(
      TransformerRun run,
      TransformerSizes sizes,
      StackConstants constants,
      GemmTime gemm,
      CollectiveTime collectives) {
    this.run = run;
    this.sizes = sizes;
    this.layout = run.layout();
    this.constants = constants;
    this.gemm = gemm;
    this.collectives = collectives;
    this.tokens = run.tokens();
    this.hidden = sizes.hidden();
    this.tensor = layout.tensor();
    this.bandwidth = run.machine().memoryBandwidth();
  }

  LayerSeconds dense() {
    Linear products = attentionProducts().plus(perceptron(sizes.dense()));
    Pair elementwise = elementwise(sizes.dense());
    return layer(products, 0, elementwise, 0, false);
  }

  /** A mixture of experts in the place of the perceptron. */
  LayerSeconds mixture() {
    ExpertLoad load = ExpertLoad.of(run, sizes);
    Products half = Products.HALF;
    Linear products =
        attentionProducts()
            .plus(grouped(load, hidden, (1 + sizes.gates()) * load.width()))
            .plus(grouped(load, load.width(), hidden))
            .plus(gemm.linear(tokens / layout.normRanks(), hidden, sizes.experts(), 1, half));
    if (sizes.sharedWidth() > 0) {
      products = products.plus(perceptron(sizes.sharedWidth()));
    }
    double gated = 4 * sizes.gates();
    double factor = load.rows() * constants.mixture() / bandwidth;
    Pair elementwise =
        elementwise(sizes.sharedWidth())
            .plus(
                ((4 + gated) * load.width() + 8 * hidden) * factor,
                ((8 + gated) * load.width() + 8 * hidden) * factor);
    double gradients =
        2
            * run.formats().exchangedGradientBytes()
            * load.local()
            * (2 + sizes.gates())
            * hidden
            * load.width()
            / bandwidth;
    double exchange = collectives.allToAllThereAndBack(tokens / tensor, sizes);
    if (layout.expertTensor() > 1) {
      double bytes = HALF * sizes.chosen() * tokens * hidden;
      exchange += collectives.allReduce(bytes, layout.expertTensor(), 1);
    }
    return layer(products, gradients, elementwise, exchange, true);
  }

  private LayerSeconds layer(
      Linear products, double gradients, Pair elementwise, double exchange, boolean mixture) {
    double speed = constants.speed();
    Pair attention = run.fusedAttention() ? fusedAttention() : unfusedAttention();
    Pair exposed = tensorParallel(mixture);
    Pair context = contextParallel(attention.forward * speed, attention.backward * speed);
    PassSeconds forward =
        new PassSeconds(
            products.forward() * speed,
            attention.forward * speed,
            elementwise.forward * speed,
            products.castForward() * speed,
            exposed.forward,
            context.forward,
            exchange,
            0);
    PassSeconds backward =
        new PassSeconds(
            (products.backward() + gradients) * speed,
            attention.backward * speed,
            elementwise.backward * speed,
            products.castBackward() * speed,
            exposed.backward,
            context.backward,
            exchange,
            0);
    PassSeconds recomputed = RecomputedSeconds.of(run, sizes, forward, mixture);
    return bounded(forward, backward, recomputed, mixture);
  }

  private Linear attentionProducts() {
    double heads = sizes.heads() / tensor;
    return switch (sizes.attention()) {
      case Latent latent -> latentProducts(latent, heads);
      case GroupedQuery grouped -> {
        double shared = Math.max(grouped.keyValueHeads() / tensor, 1);
        double width = grouped.headWidth();
        yield gemm.linear(tokens, hidden, (heads + 2 * shared) * width)
            .plus(gemm.linear(tokens, heads * width, hidden));
      }
    };
  }

  private Linear latentProducts(Latent latent, double heads) {
    double key = latent.plainWidth() + latent.rotaryWidth();
    double rank = latent.queryRank().orElse(0);
    Linear query =
        rank > 0
            ? gemm.linear(tokens, hidden, rank).plus(gemm.linear(tokens, rank, heads * key))
            : gemm.linear(tokens, hidden, heads * key);
    double keyValue = latent.keyValueRank();
    return query
        .plus(gemm.linear(tokens, hidden, keyValue + latent.rotaryWidth()))
        .plus(gemm.linear(tokens, keyValue, heads * (latent.plainWidth() + latent.valueWidth())))
        .plus(gemm.linear(tokens, heads * latent.valueWidth(), hidden));
  }

  private Linear perceptron(double width) {
    return gemm.linear(tokens, hidden, (1 + sizes.gates()) * width / tensor)
        .plus(gemm.linear(tokens, width / tensor, hidden));
  }

  private Linear grouped(ExpertLoad load, double in, double out) {
    double rows = load.rows() / load.local();
    return gemm.linear(rows, in, out, load.local(), run.formats().products());
  }

  /** Causal attention that keeps no scores. */
  private Pair fusedAttention() {
    double sequence = run.shape().sequence();
    double context = layout.context();
    double count = layout.microBatch() * sizes.heads() / tensor;
    double width = sizes.keyWidth() + sizes.valueWidth() + SOFTMAX;
    double rate = constants.attention() * run.machine().halfFlops();
    double forward = 2 * count * sequence * (sequence / context) / 2 * width / rate;
    forward *= 1 + constants.ring() * (1 - 1 / context);
    return new Pair(forward, FLASH_BACKWARD * forward);
  }

  /** Two batched products, and the traffic of scores between them. */
  private Pair unfusedAttention() {
    double sequence = run.shape().sequence();
    double count = layout.microBatch() * sizes.heads() / tensor;
    double products =
        gemm.seconds(sequence, sizes.keyWidth(), sequence, count, Products.HALF)
            + gemm.seconds(sequence, sequence, sizes.valueWidth(), count, Products.HALF);
    double scores = count * sequence * sequence / layout.context() * constants.scores() / bandwidth;
    return new Pair(products + 13 * scores, 2 * products + 21 * scores);
  }

  /** Norms, residual sums, and the activation of a perceptron of some width. */
  private Pair elementwise(double width) {
    double norms = layout.normRanks();
    double gated = 4 * sizes.gates();
    double forward =
        (22 / norms + 8 / tensor) * tokens * hidden + (4 + gated) * tokens * width / tensor;
    double backward =
        (34 / norms + 8 / tensor) * tokens * hidden + (8 + gated) * tokens * width / tensor;
    double factor = constants.elementwise() / bandwidth;
    return new Pair(
        forward * factor + FORWARD_KERNELS * KERNEL, backward * factor + BACKWARD_KERNELS * KERNEL);
  }

  private Pair tensorParallel(boolean mixture) {
    if (tensor <= 1) {
      return new Pair(0, 0);
    }
    boolean sequence = layout.sequenceParallel();
    double once = collectives.allReduce(HALF * tokens * hidden, tensor, 1);
    double times = mixture && layout.expertTensor() == 1 && sequence ? 1 : 2;
    return new Pair(
        times * once * (1 - constants.hiddenForward()),
        (times + (sequence ? 1 : 0)) * once * (1 - constants.hiddenBackward()));
  }

  /** Keys and values in the forward pass; in the backward pass their gradients, too. */
  private Pair contextParallel(double forward, double backward) {
    int ranks = layout.context();
    if (ranks == 1) {
      return new Pair(0, 0);
    }
    double bytes = HALF * tokens * sizes.keyValueWidth(tensor);
    ContextExchange exchange = run.software().framework().contextExchange();
    return new Pair(
        exchange.exposed(collectives, bytes, ranks, tensor, forward),
        exchange.exposed(collectives, 2 * bytes, ranks, tensor, backward));
  }

  /** Adds what the host takes longer: a smooth maximum of the device's and the host's seconds. */
  private LayerSeconds bounded(
      PassSeconds forward, PassSeconds backward, PassSeconds recomputed, boolean mixture) {
    double launch = constants.launch();
    double hostForward = FORWARD_KERNELS * launch;
    boolean full = run.recompute() instanceof RecomputePolicy.Full;
    double hostBackward = (BACKWARD_KERNELS + (full ? FORWARD_KERNELS : 0)) * launch;
    double power = DENSE_POWER;
    if (mixture && sizes.experts() > 1) {
      double local = sizes.experts() / layout.expert();
      double host = constants.hostSeconds() * (1 + 2 * local / HOST_EXPERTS) / 3;
      hostForward = 0.4 * host;
      hostBackward = 0.6 * host;
      power = MIXTURE_POWER;
    }
    double device = forward.total();
    double deviceBackward = backward.total() + recomputed.total();
    return new LayerSeconds(
        forward.withLaunch(smoothMaximum(device, hostForward, power) - device),
        backward.withLaunch(smoothMaximum(deviceBackward, hostBackward, power) - deviceBackward),
        recomputed);
  }

  private static double smoothMaximum(double a, double b, double power) {
    return Math.pow(Math.pow(a, power) + Math.pow(b, power), 1 / power);
  }
}
