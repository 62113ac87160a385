package dev.pipewright.server.page;

import dev.pipewright.app.report.text.Words;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.server.study.Members;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * How a plan of an answer divides training, as words of a table: {@code 4}, and {@code 2–4} where
 * stages differ.
 *
 * @param stages of the pipeline, on all ranks
 * @param data replicas of a stage
 * @param tensor devices that divide a layer; what they divide is said where it is tokens or experts
 */
record PlanDegrees(String stages, String data, String tensor) {
  /**
   * Of a stage in a plan's summary: {@code [30..54]×8t4}, {@code [30..54]×8c2t4}, {@code
   * [30..54]×8e8t4}.
   */
  private static final Pattern STAGE =
      Pattern.compile("\\[\\d+\\.\\.\\d+\\]×(\\d+)(?:(ce|[tce])(\\d+)(?:t(\\d+))?)?");

  private static final PlanDegrees UNKNOWN = new PlanDegrees("–", "–", "–");

  /**
   * A stage.
   *
   * @param word of what is divided; empty for layers
   */
  private record Stage(int devices, int parts, String word) {}

  /** Of a plan with stages, or else with a summary; dashes where it has neither. */
  static PlanDegrees of(Members plan) {
    List<Stage> stages = new ArrayList<>();
    plan.list("stages").forEach(each -> stages.add(stage(new Members(each.members()))));
    if (stages.isEmpty()) {
      STAGE.matcher(plan.text("summary")).results().map(PlanDegrees::stage).forEach(stages::add);
    }
    if (stages.isEmpty()) {
      return UNKNOWN;
    }
    String word = stages.getFirst().word;
    return new PlanDegrees(
        Integer.toString(stages.size()),
        range(stages.stream().map(stage -> stage.devices / stage.parts).toList()),
        range(stages.stream().map(Stage::parts).toList()) + (word.isEmpty() ? "" : " " + word));
  }

  private static Stage stage(Members stage) {
    int devices = stage.list("devices").size();
    return stage(devices, Parallelism.parse(stage.text("parallelism")).orElse(Parallelism.NONE));
  }

  private static Stage stage(int devices, Parallelism parallelism) {
    boolean layers = !parallelism.dividesTokens() && !parallelism.nested();
    return new Stage(devices, parallelism.parts(), layers ? "" : parallelism.word());
  }

  private static Stage stage(MatchResult found) {
    int devices = Integer.parseInt(found.group(1));
    if (found.group(2) == null) {
      return stage(devices, Parallelism.NONE);
    }
    int parts = Integer.parseInt(found.group(3));
    if (found.group(4) != null) {
      int features = Integer.parseInt(found.group(4));
      return stage(
          devices,
          found.group(2).equals("e")
              ? Parallelism.ofExpertCopies(parts / features, features)
              : Parallelism.ofCopies(parts, features));
    }
    return stage(
        devices,
        switch (found.group(2)) {
          case "c" -> Parallelism.of(Parallelism.Kind.CONTEXT, parts);
          case "e" -> Parallelism.ofWholeSequences(parts);
          case "ce" -> Parallelism.of(Parallelism.Kind.EXPERT, parts);
          default -> Parallelism.of(Parallelism.Kind.TENSOR, parts);
        });
  }

  private static String range(List<Integer> numbers) {
    return Words.range(Collections.min(numbers), Collections.max(numbers));
  }
}
