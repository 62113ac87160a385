package dev.pipewright.predict.transformer;

/**
 * Evaluates steps from their terms: the seconds and bytes of {@link TransformerOracle#predict}, but
 * for rounding. An object is moved from one configuration to the next (mesh, micro-batch, ZeRO
 * stage, offloading; each move keeps what comes before) and allocates nothing on the way, unless a
 * pipeline has more kinds of ranks than any before.
 */
public final class StepEvaluator {
  private MeshTerms mesh;
  private MicroBatchTerms one;
  private final PipelineLoad load;
  private int kinds;
  private double[] waiting; // activations by kind of rank, in bytes
  private double[] predictions;
  private double[] loss;
  private double[] embedding;
  private int zero;
  private double busy; // seconds without offloading
  private double update;
  private double offloadedLayer; // exposed seconds of a layer

  /** At {@code batches} such micro-batches on such a mesh, with ZeRO stage 0. */
  public StepEvaluator(MeshTerms mesh, MicroBatchTerms one, int batches) {
    this.mesh = mesh;
    this.one = one;
    this.load = PipelineLoad.of(mesh.kinds(), one.seconds(), batches);
    this.waiting = new double[0];
    this.predictions = new double[0];
    this.loss = new double[0];
    this.embedding = new double[0];
    move(mesh, one, batches);
  }

  /** Moves to other micro-batches, so many of them, and to ZeRO stage 0. */
  public void move(MeshTerms to, MicroBatchTerms microBatch, int batches) {
    mesh = to;
    one = microBatch;
    StageKinds ranks = to.kinds();
    load.set(ranks, microBatch.seconds(), batches);
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
      waiting[kind] = to.memory().waiting(rank, ranks.first(kind), bytes, batches);
      predictions[kind] = bytes.predictions(rank);
      loss[kind] = bytes.loss(rank);
      embedding[kind] = bytes.embedding(rank);
    }
    offloadedLayer = to.step(0).offloadedLayer(microBatch.seconds(), batches);
    zero(0);
  }

  /** Moves to a ZeRO stage. */
  public void zero(int stage) {
    zero = stage;
    StepTime step = mesh.step(stage);
    busy = step.busy(one.seconds(), load);
    update = step.update(load);
  }

  /**
   * A lower bound of the seconds under every ZeRO stage and with every offloading.
   *
   * <p>Proof. Stage 0 is never fully sharded. The other stages keep its busy seconds, or put what
   * sharding exposes (never negative) in the place of bubble and transfers, which one rank has not.
   * Offloading adds to them; exchange of gradients and optimizer are not negative. {@link
   * StepTime#total} never decreases in either argument, rounding included.
   */
  public double leastSeconds() {
    StepTime step = mesh.step(0);
    return step.total(step.busy(one.seconds(), load), 0);
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
