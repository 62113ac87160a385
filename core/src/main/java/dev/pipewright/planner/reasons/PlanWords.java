package dev.pipewright.planner.reasons;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.units.Units;
import java.util.List;

/** Plans and differences in a few words. */
final class PlanWords {
  private static final double MANY = 2; // from so many times on a step is no share longer

  private PlanWords() {}

  /** {@code 4 stages on 16 devices each, tensor parallel 8, 1f1b, …}. */
  static String of(PipelinePlan plan) {
    List<StagePlan> stages = plan.stages();
    StagePlan first = stages.get(0);
    boolean equal =
        stages.stream().allMatch(stage -> stage.devices().size() == first.devices().size());
    StringBuilder words = new StringBuilder();
    if (stages.size() == 1) {
      words.append(count(first.devices().size(), "device"));
    } else {
      words.append(count(stages.size(), "stage")).append(" on ");
      words.append(count(equal ? first.devices().size() : plan.devices(), "device"));
      words.append(equal ? " each" : "");
    }
    if (first.parallelism().several()) {
      words.append(", ").append(parallel(first.parallelism()));
    }
    if (stages.size() > 1) {
      words.append(", ").append(plan.spec().scheduleName());
    }
    words.append(", micro-batches %d × %d".formatted(plan.microBatches(), plan.microBatching()));
    if (plan.sharding() != ZeroStage.NOTHING) {
      words.append(", ZeRO ").append(plan.sharding().level());
    }
    return words.toString();
  }

  private static String parallel(Parallelism parallelism) {
    if (parallelism.nested()) {
      boolean experts = parallelism.expertParts() > 1;
      int divided = experts ? parallelism.expertParts() : parallelism.copies();
      return "%s parallel %d, tensor parallel %d"
          .formatted(experts ? "expert" : "context", divided, parallelism.pieces());
    }
    String kind = parallelism.dividesFeatures() ? "tensor" : parallelism.word();
    return kind + " parallel " + parallelism.parts();
  }

  private static String count(int number, String noun) {
    return number + " " + noun + (number == 1 ? "" : "s");
  }

  /** {@code 12 % longer}, {@code 2.6 times as long}, {@code 12 % less}. */
  static String difference(double gap) {
    double times = 1 + gap;
    return times >= MANY
        ? Units.significant(times) + " times as long"
        : Units.percent(Math.abs(gap)) + (gap > 0 ? " longer" : " less");
  }
}
