package dev.pipewright.bench.oracle;

import dev.pipewright.solver.calibrate.FreeConstant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The constants of the oracle of transformers: those that published steps decide, with start,
 * bounds and reason, and those that they do not decide, which stay at a physical value. None
 * belongs to a network or a run. Names without a suffix hold for all chips, formats or frameworks
 * that have no name of their own.
 */
final class PhysicalConstants {
  private static final double WEAK = 0.02; // strength of most priors
  private static final double CLOCK = 0.1; // data sheets and board powers say more about clocks
  private static final double RELEASE = 0.05; // and a release seldom changes kernels by a tenth

  /** A constant with the reason for its start or its value. */
  record Reason(String name, String words) {}

  private final List<FreeConstant> free = new ArrayList<>();
  private final Map<String, Double> fixed = new LinkedHashMap<>();
  private final Map<String, String> reasons = new LinkedHashMap<>();

  PhysicalConstants() {
    products();
    kernels();
    communication();
    releases();
    decidedBySense();
  }

  List<FreeConstant> free() {
    return List.copyOf(free);
  }

  Map<String, Double> fixed() {
    return Map.copyOf(fixed);
  }

  /** Why a constant starts, or stays, where it does. */
  String reason(String name) {
    return reasons.getOrDefault(name, "");
  }

  private void free(
      String name, double start, double low, double high, double strength, String why) {
    free.add(FreeConstant.of(name, start, low, high, strength));
    reasons.put(name, why);
  }

  private void fixed(String name, double value, String why) {
    fixed.put(name, value);
    reasons.put(name, why);
  }

  private void products() {
    String large = "large products reach 0.7 to 0.85 of the data sheet's peak in cuBLAS";
    free("eps.half", 0.72, 0.5, 0.95, WEAK, large);
    free("eps.a100.half", 0.80, 0.5, 0.95, WEAK, large + "; least bound by power");
    free("eps.fp8", 0.60, 0.35, 0.9, WEAK, "products in 8 bits are bound by power");
    free("eps.mxfp8", 0.60, 0.35, 0.9, WEAK, "as fp8, with a scale for each 32 elements");
    free("eps.nvfp4", 0.45, 0.25, 0.8, WEAK, "products in 4 bits are bound by power and operands");
    free("rowwise", 1.2, 1, 2.5, WEAK, "a scale for each row takes passes of its own");
    String clock = "sustained clock, from board power and peak relative to the family's first chip";
    free("clock.h100-500w", 0.85, 0.6, 1.4, CLOCK, clock);
    free("clock.b200", 1.05, 0.6, 1.4, CLOCK, clock);
    free("clock.b300", 1.10, 0.6, 1.4, CLOCK, clock);
    free("clock.gb300", 1.17, 0.6, 1.4, CLOCK, clock);
  }

  private void kernels() {
    String attention = "share of the peak that its authors report for causal attention";
    free("phi.triton23.a100", 0.35, 0.2, 0.7, WEAK, attention);
    free("phi.triton23.h100", 0.18, 0.1, 0.5, WEAK, attention);
    free("phi.fa2", 0.40, 0.2, 0.7, WEAK, attention);
    free("phi.cudnn", 0.55, 0.3, 0.8, WEAK, attention);
    free("phi.cudnn.blackwell", 0.45, 0.3, 0.8, WEAK, attention + "; exponentials bound it");
    free("ring", 0.3, 0.02, 0.8, WEAK, "smaller kernels and corrections of partial results");
    String bytes = "bytes moved relative to one read and write of each tensor";
    free("ew.megatron", 1.2, 0.5, 4, WEAK, bytes);
    free("ew.megatron-2021", 1.2, 0.5, 4, WEAK, bytes + "; before fused kernels");
    free("ew.mcore", 1.2, 0.5, 3, WEAK, bytes);
    free("ew.torch", 1.5, 0.5, 6, WEAK, bytes);
    free("ew.torchtitan.eager", 2.5, 0.8, 8, WEAK, bytes + "; nothing compiled");
    free("ew.xla", 1.5, 0.4, 6, WEAK, bytes);
    free("ew.moe", 1.5, 0.5, 4, WEAK, bytes + "; permutation in addition");
    free("scores", 1.2, 0.6, 3, WEAK, bytes + ", of unfused attention's scores");
    free("head", 1.2, 0.6, 2.5, WEAK, bytes + ", of the loss");
    free("host.dropless", 8e-3, 1e-3, 2e-2, WEAK, "seconds in which routing waits for the host");
    free("host.drop", 4e-3, 5e-4, 2e-2, WEAK, "the same with a fixed capacity");
  }

  private void communication() {
    free("bus", 0.75, 0.4, 0.95, WEAK, "share of NVLink that rings sustain (nccl-tests)");
    free("abus", 0.6, 0.3, 0.9, WEAK, "share of NVLink that all-to-all sustains");
    free("eta", 0.75, 0.3, 1, WEAK, "share of the network that collectives sustain");
    free("chi", 0.7, 0.05, 0.97, WEAK, "all-reduce overlaps the weight gradient's product");
    free("chif.mcore", 0.5, 0.1, 0.95, WEAK, "user-buffer overlap with the product's tiles");
    free("kappa", 0.6, 0.05, 1.1, WEAK, "gathers take multiprocessors and bandwidth");
  }

  private void releases() {
    String slower = "kernels' seconds relative to the reference release";
    free("speed.nemo.25.01", 1.05, 0.7, 1.3, RELEASE, slower);
    free("speed.nemo.25.02", 1.03, 0.7, 1.3, RELEASE, slower);
    free("speed.megatron-bridge.25.09", 1.05, 0.7, 1.3, RELEASE, slower);
    free("speed.megatron-bridge.25.11", 1.03, 0.7, 1.3, RELEASE, slower);
    free("speed.megatron-bridge.26.02", 1.02, 0.7, 1.3, RELEASE, slower);
    free("speed.megatron-bridge.26.06", 0.97, 0.7, 1.3, RELEASE, slower);
    free("sigma", 0.004, 0.0005, 0.03, WEAK, "each doubling of nodes waits for a slower one");
  }

  /** What published steps leave open: fits moved these without foreseeing other steps better. */
  private void decidedBySense() {
    fixed("phi", 0.3, "a kernel of attention that no row has");
    fixed("ew", 1.5, "a framework that no row has; as compiled PyTorch");
    fixed("cast", 1.2, "one read and one write, and the scale");
    fixed("opt", 1.0, "the optimizer moves the bytes of its state once");
    fixed("fbus", 0.8, "share of NVLink that all-gather and reduce-scatter sustain");
    fixed("xi", 0.9, "one large message fills a network card");
    fixed("chif", 0.05, "the forward pass waits for its all-reduce");
    fixed("chif.async", 0.5, "PyTorch's asynchronous tensor parallelism hides about half");
    fixed("chi.block", 0.3, "user-buffer overlap is off where scales belong to blocks");
    fixed("chi.a2a", 0.5, "half of an overlapped all-to-all is hidden");
    fixed("chi.dp", 0.15, "first and last bucket of gradients overlap with nothing");
    fixed("window", 0.5, "half of the last micro-batch hides gradients");
    fixed("kp", 0.12, "a stage waits for an eighth of its transfers");
    fixed("lambda", 5e-6, "seconds of a collective for each doubling of its ranks");
    fixed("theta", 8e-6, "seconds in which a host launches a kernel");
    fixed("fixed", 0.03, "seconds of a step's logging, data and synchronisation");
    fixed("offload", 0.3, "share of offloading that is exposed");
    fixed("host.graph", 1e-3, "seconds of the host where a graph holds the whole step");
  }
}
