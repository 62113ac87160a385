package dev.pipewright.predict.transformer;

import dev.pipewright.predict.transformer.NumberFormats.Products;
import java.util.Locale;

/**
 * The calibrated constants of one run's machine and software, looked up once.
 *
 * @param efficiencies share of the peak that the best products reach, by precision
 * @param attention share of the half-precision peak that fused attention reaches (φ)
 * @param clock sustained clock relative to the family's first chip, part of both of the above
 * @param elementwise bytes that element-wise kernels move, relative to the count
 * @param mixture the same for activation and permutation of experts
 * @param scores the same for the scores of unfused attention
 * @param loss the same for the loss
 * @param cast the same for casts
 * @param optimizer the same for the optimizer
 * @param rowwise slow-down of 8-bit products with row-wise scales
 * @param speed seconds of a layer's kernels relative to the framework's reference release
 * @param launch seconds of the host for a kernel (θ)
 * @param hostSeconds of the host for a mixture with 16 local experts and micro-batch
 * @param hiddenForward share of tensor-parallel communication that computation hides (χ_f)
 * @param hiddenBackward the same in the backward pass (χ)
 * @param ring slow-down of attention in pieces under context parallelism
 * @param nvlinkBus bus bandwidth of collectives in an NVLink domain in bytes/s
 * @param allToAllBus the same of all-to-all
 * @param shardedBus the same of fully sharded parameters
 * @param network share of the network that collectives reach (η)
 * @param allToAllNetwork the same of all-to-all
 * @param transferNetwork the same of transfers between pipeline ranks (ξ)
 * @param allToAllHidden share of an overlapped all-to-all that computation hides
 * @param gradientNetwork share of the network that unbucketed gradients reach (δ)
 * @param transferExposed share of transfers that computation does not hide (κp)
 * @param gradientWindow share of a micro-batch that may hide gradients
 * @param gradientExposed share of overlapped gradients that is exposed in any case
 * @param shardedSlowdown share of hidden sharded communication that slows computation (κ)
 * @param shardedLatency seconds for each doubling of the shard group (λ)
 * @param straggling share that each doubling of nodes adds (σ)
 * @param fixed seconds of a step for launch, logging and loss scale
 * @param offload share of offloading that is exposed
 */
public record StackConstants(
    Efficiencies efficiencies,
    double attention,
    double clock,
    double elementwise,
    double mixture,
    double scores,
    double loss,
    double cast,
    double optimizer,
    double rowwise,
    double speed,
    double launch,
    double hostSeconds,
    double hiddenForward,
    double hiddenBackward,
    double ring,
    double nvlinkBus,
    double allToAllBus,
    double shardedBus,
    double network,
    double allToAllNetwork,
    double transferNetwork,
    double allToAllHidden,
    double gradientNetwork,
    double transferExposed,
    double gradientWindow,
    double gradientExposed,
    double shardedSlowdown,
    double shardedLatency,
    double straggling,
    double fixed,
    double offload) {
  /** Of half-precision products, and of those in the run's precision. */
  public record Efficiencies(double half, double products) {
    double of(Products precision) {
      return precision == Products.HALF ? half : products;
    }
  }

  /** A chip without rows takes the clock of its family's first chip, or of one like it. */
  private static double clock(CalibratedConstants k, String chip) {
    String like = chip.equals("mi300x") ? "h100-500w" : chip;
    return k.values().getOrDefault("clock." + chip, k.orOne("clock." + like));
  }

  /** The constants of {@code run}; the most special name wins. */
  static StackConstants of(CalibratedConstants k, TransformerRun run) {
    GpuMachine machine = run.machine();
    SoftwareStack software = run.software();
    Framework framework = software.framework();
    Products products = run.formats().products();
    String word = framework.word();
    String lineage = framework.lineage();
    String family = lower(machine.family());
    String precision = lower(products);
    String stack = stack(run);
    boolean blocks = products.blockScaled() && stack.equals("mcore");
    double clock = clock(k, machine.chip());
    double nvlink = machine.nvlinkBandwidth();
    String async = software.asyncTensorParallel() ? ".async" : "";
    return new StackConstants(
        new Efficiencies(
            clock * k.get("eps." + family + ".half", "eps.half"),
            clock
                * k.get(
                    "eps." + family + "." + precision,
                    "eps." + precision,
                    "eps." + family + ".fp8",
                    "eps.fp8")),
        attention(k, framework, machine.chip(), family, clock),
        clock,
        k.get("ew." + stack, "ew." + word, "ew." + lineage, "ew"),
        k.get("ew.moe"),
        k.get("scores"),
        k.get("head"),
        run.formats().castBytes() * k.get("cast." + precision, "cast"),
        k.get("opt." + word, "opt"),
        run.formats().rowwise() && framework == Framework.TORCHTITAN ? k.get("rowwise") : 1.0,
        k.orOne("speed." + word + "." + software.period()),
        k.get("theta." + word, "theta"),
        k.get(host(run)),
        blocks
            ? k.get("chif.block", "chif")
            : k.get("chif." + stack + async, "chif" + async, "chif." + stack, "chif"),
        blocks ? k.get("chi.block", "chi") : k.get("chi." + stack, "chi." + lineage, "chi"),
        k.get("ring"),
        nvlink * k.get("bus." + family, "bus"),
        nvlink * k.get("abus." + family, "abus", "bus"),
        nvlink * k.get("fbus." + stack, "fbus." + family, "fbus", "bus"),
        k.get("eta"),
        k.get("eta.a2a", "eta"),
        k.get("xi"),
        k.get("chi.a2a"),
        k.get("delta", "eta"),
        k.get("kp." + word, "kp"),
        k.get("window"),
        k.get("chi.dp"),
        k.get("kappa." + stack, "kappa." + word, "kappa." + lineage, "kappa"),
        k.get("lambda"),
        k.get("sigma." + word, "sigma"),
        k.get("fixed." + word, "fixed." + lineage, "fixed"),
        k.get("offload"));
  }

  private static double attention(
      CalibratedConstants k, Framework framework, String chip, String family, double clock) {
    String kernel = framework.fusesAttention() ? framework.kernel() : "cudnn";
    String phi = "phi." + kernel;
    return clock * k.get(phi + "." + chip, phi + "." + family, phi, "phi");
  }

  private static String host(TransformerRun run) {
    if (run.software().graphsWholeIterations()) {
      return "host.graph";
    }
    return run.routing().dropsTokens() ? "host.drop" : "host.dropless";
  }

  private static String stack(TransformerRun run) {
    SoftwareStack software = run.software();
    boolean pure = software.framework() == Framework.MPT && run.formats().pureHalf();
    return software.framework().core() + (software.eager() ? ".eager" : pure ? ".pure" : "");
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
