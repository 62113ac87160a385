package dev.pipewright.predict.transformer;

/**
 * What the degrees of parallelism determine of a step, under every choice of ZeRO: the exchange of
 * gradients, the optimizer, and the state of each kind of pipeline rank. {@link StepTerms} makes
 * them.
 */
public final class MeshTerms {
  private final StageKinds kinds;
  private final StepTime[] steps; // by index of the choice of ZeRO
  private final RankMemoryFormula memory;
  private final double[][] state; // bytes by index of the choice and kind
  private final GpuMachine machine;

  private MeshTerms(
      StageKinds kinds,
      StepTime[] steps,
      RankMemoryFormula memory,
      double[][] state,
      GpuMachine machine) {
    this.kinds = kinds;
    this.steps = steps;
    this.memory = memory;
    this.state = state;
    this.machine = machine;
  }

  static MeshTerms of(TransformerRun run, TransformerSizes sizes, StackConstants constants) {
    StageKinds kinds = StageKinds.of(run.split(), sizes);
    int choices = ZeroChoice.ALL.size();
    StepTime[] steps = new StepTime[choices];
    double[][] state = new double[choices][kinds.size()];
    for (int zero = 0; zero < choices; zero++) {
      TransformerRun here = run.with(run.layout().with(ZeroChoice.ALL.get(zero)));
      steps[zero] = new StepTime(here, sizes, constants, kinds);
      RankMemoryFormula bytes = new RankMemoryFormula(here, sizes);
      for (int kind = 0; kind < kinds.size(); kind++) {
        state[zero][kind] = bytes.state(kinds.rank(kind));
      }
    }
    return new MeshTerms(kinds, steps, new RankMemoryFormula(run, sizes), state, run.machine());
  }

  StageKinds kinds() {
    return kinds;
  }

  StepTime step(int zero) {
    return steps[zero];
  }

  RankMemoryFormula memory() {
    return memory;
  }

  double[] state(int zero) {
    return state[zero];
  }

  double workspace() {
    return machine.workspaceBytes();
  }

  /** Whether a GPU holds so many bytes of tensors. */
  public boolean holds(double bytes) {
    return machine.holds(bytes);
  }

  /**
   * A lower bound of the bytes of every step under the choice of ZeRO with such an index: state and
   * workspace of the rank that has most. A step's bytes are this sum with other amounts, none
   * negative, added in between; rounding never decreases with its argument, so the bound holds for
   * rounded sums, too.
   */
  public double leastBytes(int zero) {
    double most = 0;
    for (double bytes : state[zero]) {
      most = Math.max(most, bytes);
    }
    return most + workspace();
  }

  /**
   * A lower bound of the seconds of every step: the passes of the rank with most layers.
   *
   * <p>Proof. A step takes no less than the passes of its m micro-batches of b samples on any one
   * rank, m · b being {@code samples}; these are no shorter than the rank's layers alone, each of
   * which takes b · {@code denseSeconds} (or {@code mixtureSeconds}) or longer. Bubble, transfers,
   * exchanges, optimizer and offloading only add. A share of 1e-9 is taken off for the rounding of
   * about ten operations.
   *
   * @param samples of a step and replica
   * @param denseSeconds least seconds of a dense layer for a sample, whatever the micro-batch
   * @param mixtureSeconds the same of a mixture of experts
   */
  public double leastSeconds(int samples, double denseSeconds, double mixtureSeconds) {
    double most = 0;
    for (int kind = 0; kind < kinds.size(); kind++) {
      StageSplit.Rank rank = kinds.rank(kind);
      most = Math.max(most, rank.dense() * denseSeconds + rank.mixtures() * mixtureSeconds);
    }
    return steps[0].total(samples * most, 0) * (1 - 1e-9);
  }
}
