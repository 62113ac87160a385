package dev.pipewright.predict.transformer;

import dev.pipewright.predict.transformer.CalibratedConstants.LogInterval;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/** Predicts a training step of a transformer from counts, data sheets and calibrated constants. */
public final class TransformerOracle {
  private static final double TIGHT = 0.92; // of the device

  private TransformerOracle() {}

  /**
   * Seconds of a step of {@code run}, without interval and memory.
   *
   * @throws IllegalArgumentException for networks that the formulas do not cover
   */
  public static double seconds(TransformerRun run, CalibratedConstants constants) {
    TransformerSizes sizes = TransformerSizes.of(run.shape());
    return phases(run, sizes, StackConstants.of(constants, run), Optional.empty()).total();
  }

  /**
   * Seconds of a step.
   *
   * @param passes seconds of all passes of its pipeline, at least those of the slowest rank
   */
  public static double seconds(TransformerRun run, CalibratedConstants constants, double passes) {
    TransformerSizes sizes = TransformerSizes.of(run.shape());
    return phases(
            run,
            sizes,
            StackConstants.of(constants, run),
            load -> load.bubble(passes - load.batches() * load.longest()))
        .total();
  }

  /** Names of those constants of which the prediction for {@code run} looks up the value. */
  public static Set<String> constantsRead(TransformerRun run, CalibratedConstants constants) {
    StackConstants whole = StackConstants.of(constants, run);
    Set<String> read = new TreeSet<>();
    constants
        .values()
        .forEach((name, value) -> {
          CalibratedConstants other = constants.with(Map.of(name, 2 * value));
          if (!StackConstants.of(other, run).equals(whole)) {
            read.add(name);
          }
        });
    return read;
  }

  /**
   * The prediction for {@code run} under 1F1B, interleaved where ranks have several chunks.
   *
   * @throws IllegalArgumentException for networks that the formulas do not cover
   */
  public static TransformerPrediction predict(TransformerRun run, CalibratedConstants constants) {
    return predict(run, constants, Optional.empty());
  }

  /** The prediction for {@code run} under the schedule that {@code passes} are of. */
  public static TransformerPrediction predict(
      TransformerRun run, CalibratedConstants constants, ScheduledPasses passes) {
    return predict(run, constants, Optional.of(passes));
  }

  private static TransformerPrediction predict(
      TransformerRun run, CalibratedConstants constants, Optional<ScheduledPasses> passes) {
    TransformerSizes sizes = TransformerSizes.of(run.shape());
    TransformerPhases phases = phases(run, sizes, StackConstants.of(constants, run), passes);
    LogInterval errors = constants.interval(run, sizes.hasMixtures());
    RankMemoryFormula memory = new RankMemoryFormula(run, sizes);
    List<TransformerRankBytes> ranks =
        passes.map(p -> memory.ranks(p.waitingBytes())).orElseGet(memory::ranks);
    double most = ranks.stream().mapToDouble(TransformerRankBytes::total).max().orElseThrow();
    double needed = most + run.machine().outsideTensors();
    double device = run.machine().memoryBytes();
    return new TransformerPrediction(
        phases,
        phases.total() * Math.exp(errors.low()),
        phases.total() * Math.exp(errors.high()),
        constants.coverage(run, sizes.hasMixtures()),
        ranks,
        run.split().ranks(sizes).stream().mapToDouble(memory::hostState).max().orElse(0),
        run.machine().holds(most),
        needed > TIGHT * device);
  }

  private static TransformerPhases phases(
      TransformerRun run,
      TransformerSizes sizes,
      StackConstants constants,
      Optional<ScheduledPasses> passes) {
    return phases(
        run,
        sizes,
        constants,
        load -> passes.ifPresent(p -> load.bubble(p.seconds() - load.batches() * load.longest())));
  }

  private static TransformerPhases phases(
      TransformerRun run,
      TransformerSizes sizes,
      StackConstants constants,
      Consumer<PipelineLoad> scheduled) {
    StageKinds kinds = StageKinds.of(run.split(), sizes);
    MicroBatchSeconds one = MicroBatchSeconds.of(run, sizes, constants);
    StepTime step = new StepTime(run, sizes, constants, kinds);
    PipelineLoad load = new PipelineLoad();
    step.load(one, run.layout().microBatches(), load);
    scheduled.accept(load);
    return step.phases(one, load, run.offload().layers());
  }
}
