import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.api.SimulatedStep;
import dev.pipewright.api.Simulator;
import dev.pipewright.plan.PipelinePlan;
import java.util.Locale;

/** Simulates a straggler: each of four stages in turn takes 1.5 times as long. */
class SlowDevice {
  public static void main(String[] args) {
    Problem problem = Problem.of("bert-48", "dapple-a", 64).withStages(4);
    PipelinePlan plan = Planners.plan(problem).plan();
    print("none", Simulator.run(problem, plan));
    for (int rank = 0; rank < 4; rank++) {
      double[] slowness = {1, 1, 1, 1};
      slowness[rank] = 1.5;
      print("rank " + rank, Simulator.run(problem, plan, slowness));
    }
  }

  private static void print(String slow, SimulatedStep step) {
    System.out.printf(Locale.ROOT, "%s: %.6f %.4f%n", slow, step.seconds(), step.idleShare());
  }
}
