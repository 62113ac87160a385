import dev.pipewright.api.Planned;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import java.util.List;
import java.util.Locale;

/** Plans VGG-19 by three planners on one, two and four machines of eight V100. */
class SweepClusters {
  public static void main(String[] args) {
    for (int machines : List.of(1, 2, 4)) {
      String cluster = "dgx-v100:" + machines + "x8";
      Problem problem = Problem.of("vgg-19", cluster, 512).withPrecision("fp16");
      for (String planner : List.of("auto", "data", "gpipe")) {
        Planned planned = Planners.plan(problem, planner);
        String answer =
            planned.isFound()
                ? String.format(Locale.ROOT, "%.6f", planned.step().seconds())
                : planned.reason().orElseThrow();
        System.out.println(cluster + " " + planner + " " + answer);
      }
    }
  }
}
