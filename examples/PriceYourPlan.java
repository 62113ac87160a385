import dev.pipewright.api.Oracles;
import dev.pipewright.api.Problem;
import dev.pipewright.cost.Assessment;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.List;
import java.util.Locale;

/** Prices a plan of your own: BERT-48 in two stages of eight devices, by every cost model. */
class PriceYourPlan {
  public static void main(String[] args) {
    List<Integer> first = List.of(0, 1, 2, 3, 4, 5, 6, 7);
    List<Integer> second = List.of(8, 9, 10, 11, 12, 13, 14, 15);
    StagePlan front = new StagePlan(0, 24, first, Recompute.NONE, 2);
    StagePlan back = new StagePlan(25, 49, second, Recompute.NONE, 1);
    PipelinePlan plan = new PipelinePlan(PipelinePolicy.A, 8, 1, 8, false, List.of(front, back));
    Problem problem = Problem.of("bert-48", "dapple-a", 64);
    for (String model : Oracles.names()) {
      Assessment predicted = Oracles.predict(problem, plan, model);
      double gib = predicted.peakBytes() / (1 << 30);
      System.out.printf(Locale.ROOT, "%s %.6f %.3f%n", model, predicted.stepSeconds(), gib);
    }
  }
}
