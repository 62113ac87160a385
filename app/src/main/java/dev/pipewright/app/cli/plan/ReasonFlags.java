package dev.pipewright.app.cli.plan;

import dev.pipewright.api.Oracles;
import dev.pipewright.api.Planned;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.file.InputFile;
import dev.pipewright.formats.imported.PlanImports;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.reasons.Change;
import dev.pipewright.planner.reasons.PlanComparison;
import dev.pipewright.planner.reasons.Reasons;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What the best plan is compared with. */
public final class ReasonFlags {
  private static final String AGAINST = "--against";

  @Option(
      names = AGAINST,
      paramLabel = "PLAN.json|ARGS",
      description =
          "Say why this plan is slower than the one that is found, or does not fit: a file, as"
              + " `--evaluate` takes it, or arguments of Megatron-LM in quotes, like"
              + " '--tensor-model-parallel-size 8 --pipeline-model-parallel-size 4'.")
  private @Nullable String against;

  @Option(
      names = "--what-if",
      description =
          "Also plan for one more machine, 10 %% more memory and twice the bandwidth between"
              + " machines: three more searches.")
  private boolean whatIf;

  /**
   * Reasons for the best plan; none where there is none.
   *
   * @param plans how the same problem is planned on other clusters
   */
  Reasons of(Problem problem, Planned found, Function<Problem, Planned> plans) {
    if (!found.isFound()) {
      return Reasons.NONE;
    }
    List<PlanComparison> comparisons = new ArrayList<>();
    if (against != null) {
      comparisons.add(given(problem, found, against));
    }
    comparisons.addAll(found.alternatives());
    List<Change> changes = whatIf ? Planners.whatIf(problem, found, plans) : List.of();
    return new Reasons(comparisons, changes);
  }

  /**
   * Throws where something is to be compared, and cannot be.
   *
   * @param remedy what to do instead
   */
  void refuse(String remedy) {
    if (against != null || whatIf) {
      throw new BadInputException(
          "%s: is for the best plan of a search on the whole cluster; %s"
              .formatted(against != null ? AGAINST : "--what-if", remedy));
    }
  }

  private static PlanComparison given(Problem problem, Planned found, String against) {
    Workload workload = found.costed().workload();
    int devices = workload.cluster().size();
    boolean arguments = PlanImports.isArguments(against);
    String source = arguments ? AGAINST : against;
    PipelinePlan plan =
        arguments
            ? PlanImports.ofArguments(
                AGAINST, against, workload.chain().graph(), problem.step().globalBatch(), devices)
            : PlanImports.readStep(file(against), OptionalInt.of(devices)).plan();
    String name = arguments ? "your plan" : "the plan of " + against;
    return found.against(name, Oracles.evaluate(problem, plan, found.planner().name(), source));
  }

  private static Path file(String name) {
    return FileNames.file(AGAINST, name);
  }

  /** Throws where there is no such file or argument: searches take long. */
  void check() {
    if (against == null) {
      return;
    }
    if (PlanImports.isArguments(against)) {
      PlanImports.checkArguments(AGAINST, against);
    } else {
      InputFile.check(file(against));
    }
  }
}
