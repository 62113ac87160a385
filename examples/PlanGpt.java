import dev.pipewright.api.Planned;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.plan.StagePlan;
import java.util.Locale;

/** Plans a GPT with 1.5 billion parameters on four V100 and prints each stage with its memory. */
class PlanGpt {
  public static void main(String[] args) {
    Problem problem = Problem.of("gpt-2-xl", "dgx-v100:1x4", 32).withMicroBatch(2);
    Planned planned = Planners.plan(problem);
    planned.reason().ifPresent(reason -> System.out.println("nothing fits: " + reason));
    if (planned.isFound()) {
      System.out.printf(Locale.ROOT, "%.6f seconds%n", planned.step().seconds());
      for (int i = 0; i < planned.plan().stages().size(); i++) {
        StagePlan stage = planned.plan().stages().get(i);
        PeakMemory memory = planned.memory().get(i);
        System.out.printf(Locale.ROOT, "%s %.0f bytes%n", stage.summary(), memory.peakBytes());
        memory.categories().forEach((of, bytes) -> System.out.printf("  %s %.0f%n", of, bytes));
      }
    }
  }
}
