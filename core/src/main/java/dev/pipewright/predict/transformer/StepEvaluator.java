package dev.pipewright.predict.transformer;

/**
 * Evaluates steps from their terms: the seconds and bytes of {@link TransformerOracle#predict}, but
 * for rounding. An object is moved from one configuration to the next (mesh, micro-batch, choice of
 * ZeRO, offloading; each move keeps what comes before) and allocates nothing on the way, unless a
 * pipeline has more kinds of ranks than any before.
 */
public final class StepEvaluator {
  private MeshTerms mesh;
  private MicroBatchTerms one;
  private final PipelineLoad load = new PipelineLoad();
  private int batches;
  private int kinds;
  private double[] waiting; // activations by kind of rank, in bytes
  private double[] predictions;
  private double[] loss;
  private double[] embedding;
  private int zero; // index of the choice
  private double plain; // seconds of stage 0 without offloading, exchanges and optimizer
  private double busy; // seconds without offloading
  private double update;
  private double offloadedLayer; // exposed seconds of a layer

  /** At {@code batches} such micro-batches on such a mesh, under ZeRO stage 0. */
  public StepEvaluator(MeshTerms mesh, MicroBatchTerms one, int batches) {
    this.mesh = mesh;
    this.one = one;
    this.waiting = new double[0];
    this.predictions = new double[0];
    this.loss = new double[0];
    this.embedding = new double[0];
    move(mesh, one, batches);
  }

  /** Moves to other micro-batches, so many of them, and to ZeRO stage 0. */
  public void move(MeshTerms to, MicroBatchTerms microBatch, int microBatches) {
    mesh = to;
    one = microBatch;
    batches = microBatches;
    StageKinds ranks = to.kinds();
    kinds = ranks.size();
    if (kinds > waiting.length) {
      waiting = new double[kinds];
      predictions = new double[kinds];
      loss = new double[kinds];
      embedding = new double[kinds];
    }
    MicroBatchBytes bytes = microBatch.bytes();
    for (int kind = 0; kind < kinds; kind++) {
      StageSplit.Rank rank = ranks.rank(kind);
      waiting[kind] = to.memory().waiting(rank, ranks.first(kind), bytes, microBatches);
      predictions[kind] = bytes.predictions(rank);
      loss[kind] = bytes.loss(rank);
      embedding[kind] = bytes.embedding(rank);
    }
    offloadedLayer = to.step(0).offloadedLayer(microBatch.seconds(), microBatches);
    zero(0);
    plain = to.step(0).total(busy, 0);
  }

  /** Moves to the choice of ZeRO with such an {@linkplain ZeroChoice#index index}. */
  public void zero(int index) {
    zero = index;
    StepTime step = mesh.step(index);
    step.load(one.seconds(), batches, load);
    busy = step.busy(one.seconds(), load);
    update = step.update(load);
  }

  /**
   * A lower bound of the seconds under every choice of ZeRO and with every offloading.
   *
   * <p>Proof. Stage 0 is never fully sharded. The other choices keep its busy seconds, or add what
   * sharding exposes, never negative, to the micro-batches of each rank. With m micro-batches and v
   * chunks, busy seconds are (m − 1/v) of the slowest rank's and 1/v of all ranks' together, and
   * transfers: none falls. Offloading adds to them; exchange of gradients and optimizer are not
   * negative. A share of 1e-9 is taken off for rounding.
   */
  public double leastSeconds() {
    return plain * (1 - 1e-9);
  }

  /** Seconds of the step with so many layers of a rank offloaded; never less with more layers. */
  public double seconds(int offloaded) {
    StepTime step = mesh.step(zero);
    return step.total(busy + step.offloadedLayers(offloaded) * offloadedLayer, update);
  }

  /** Bytes of the rank that needs most; never more with more layers offloaded. */
  public double bytes(int offloaded) {
    double share = mesh.memory().onDevice(offloaded);
    double[] state = mesh.state(zero);
    double workingSet = one.bytes().workingSet();
    double workspace = mesh.workspace();
    double most = 0;
    for (int kind = 0; kind < kinds; kind++) {
      double activations = waiting[kind] * share + predictions[kind];
      most =
          Math.max(
              most,
              state[kind] + activations + workingSet + loss[kind] + embedding[kind] + workspace);
    }
    return most;
  }

  /** The step in full. */
  public StepBreakdown breakdown(int offloaded) {
    StepTime step = mesh.step(zero);
    int worst = 0;
    TransformerRankBytes most = rank(0, offloaded);
    for (int kind = 1; kind < kinds; kind++) {
      TransformerRankBytes here = rank(kind, offloaded);
      if (here.total() > most.total()) {
        worst = kind;
        most = here;
      }
    }
    return new StepBreakdown(
        step.phases(one.seconds(), load, offloaded), mesh.kinds().first(worst), most);
  }

  private TransformerRankBytes rank(int kind, int offloaded) {
    return new TransformerRankBytes(
        mesh.state(zero)[kind],
        waiting[kind] * mesh.memory().onDevice(offloaded) + predictions[kind],
        one.bytes().workingSet(),
        loss[kind],
        embedding[kind],
        mesh.workspace());
  }
}
