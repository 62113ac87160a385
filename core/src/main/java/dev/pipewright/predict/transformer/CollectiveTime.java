package dev.pipewright.predict.transformer;

/**
 * Seconds of collectives and transfers between GPUs of NVLink domains that a network joins. All
 * GPUs of a domain are taken to communicate at once.
 *
 * <p>Source of the ring's volume: R. Thakur et al., <i>Optimization of collective communication
 * operations in MPICH</i>, IJHPCA 19 (2005).
 */
final class CollectiveTime {
  private static final double NVLINK_LATENCY = 15e-6; // seconds of a step in a domain
  private static final double NETWORK_LATENCY = 20e-6; // and between domains
  private static final double NVLINK_SINGLE = 0.75; // share of NVLink that one transfer reaches
  private static final double HALF = 2; // bytes of an element

  private final TransformerRun run;
  private final GpuMachine machine;
  private final StackConstants constants;

  CollectiveTime(TransformerRun run, StackConstants constants) {
    this.run = run;
    this.machine = run.machine();
    this.constants = constants;
  }

  /**
   * An all-reduce of {@code bytes} over ranks that are {@code stride} apart; a reduce-scatter with
   * an all-gather is the same.
   */
  double allReduce(double bytes, double ranks, double stride) {
    if (ranks <= 1) {
      return 0;
    }
    int domain = machine.domain();
    double inside = Math.min(ranks, Math.max(1, Math.floor(domain / stride)));
    double seconds = 0;
    if (inside > 1) {
      seconds =
          NVLINK_LATENCY * (1 + log2(inside))
              + 2 * bytes * (ranks - 1) / ranks / constants.nvlinkBus();
    }
    if (ranks > inside) {
      double domains = ranks / inside;
      double sharing = Math.min(domain, stride * inside); // groups that share a domain's network
      seconds +=
          2 * bytes * (domains - 1) / domains / inside * sharing / networkRate(constants.network())
              + NETWORK_LATENCY * log2(domains);
    }
    return seconds;
  }

  /** Bytes per second of a domain's network, of which collectives reach a share. */
  double networkRate(double share) {
    return share * machine.domainNetworkBandwidth();
  }

  /**
   * Exchanging {@code tokens} between the ranks of an expert-parallel group, there and back.
   *
   * <p>Source of one copy for each target: DeepSeek-AI, <i>DeepSeek-V3</i>, arXiv:2412.19437,
   * §3.2.2.
   */
  double allToAllThereAndBack(double tokens, TransformerSizes sizes) {
    int expert = run.layout().expert();
    if (expert <= 1) {
      return 0;
    }
    double inside = Math.max(1, Math.min(expert, machine.domain() / run.layout().expertTensor()));
    double domains = expert / inside;
    double bytes = HALF * tokens * sizes.hidden();
    double once =
        bytes * copies(expert, sizes) * (inside - 1) / expert / constants.allToAllBus()
            + NVLINK_LATENCY;
    if (domains > 1) {
      double rate = networkRate(constants.allToAllNetwork()) / machine.domain();
      once += bytes * copies(domains, sizes) * (1 - 1 / domains) / rate + NETWORK_LATENCY;
    }
    return 2 * once * (run.routing().overlapped() ? 1 - constants.allToAllHidden() : 1);
  }

  /** Copies of a token that leave for {@code targets} ranks or domains. */
  private double copies(double targets, TransformerSizes sizes) {
    return run.routing().oneCopyPerTarget()
        ? targets * (1 - Math.pow(1 - 1 / targets, sizes.chosen()))
        : sizes.chosen();
  }

  /**
   * A micro-batch's states from one pipeline rank to the next, the mean over all ranks.
   *
   * @param elements of the states
   * @param sequenceParallel whether tensor-parallel ranks hold shares of them
   */
  double transfer(double elements, boolean sequenceParallel) {
    TrainingLayout layout = run.layout();
    if (layout.pipeline() == 1) {
      return 0;
    }
    boolean scattered = sequenceParallel || run.software().framework().scattersTransfers();
    double bytes = HALF * elements / (scattered ? layout.tensor() : 1);
    if (layout.devices() <= machine.domain()) {
      return near(bytes);
    }
    double stride = layout.tensor() * layout.context() * layout.data();
    double crossing = Math.min(1, stride / machine.domain());
    return (1 - crossing) * near(bytes) + crossing * far(bytes);
  }

  /** {@code bytes} from each rank to its neighbour in a ring of ranks {@code stride} apart. */
  double hop(double bytes, double ranks, double stride) {
    return ranks * stride <= machine.domain() ? near(bytes) : far(bytes);
  }

  private double near(double bytes) {
    return bytes / (NVLINK_SINGLE * machine.nvlinkBandwidth()) + NVLINK_LATENCY;
  }

  private double far(double bytes) {
    return bytes / (networkRate(constants.transferNetwork()) / machine.domain()) + NETWORK_LATENCY;
  }

  static double log2(double x) {
    return Math.log(x) / Math.log(2);
  }
}
