package dev.pipewright.app.cli.plan;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.PlanFit;
import dev.pipewright.formats.schedule.FileProblem;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What kinds of plan share of what may be wrong with them. */
public final class PlanProblems {
  private static final Pattern STAGE = Pattern.compile("stages\\[(\\d+)].*");

  private PlanProblems() {}

  /** What keeps a plan's order of work from running. */
  public static List<FileProblem> ofSchedule(Path path, Schedule schedule) {
    List<FileProblem> problems = new ArrayList<>();
    for (Validator.Problem problem : Validator.check(schedule)) {
      problems.add(FileProblem.ofPlan(path, problem));
    }
    return problems;
  }

  /** Where stages are not for the model and cluster. */
  public static List<FileProblem> misfits(Path path, List<StagePlan> stages, Costed costed) {
    return PlanFit.problems(stages, costed).stream().map(words -> misfit(path, words)).toList();
  }

  /** One that names its stage, if any, at its begin. */
  static FileProblem misfit(Path path, String words) {
    Matcher stage = STAGE.matcher(words);
    return stage.matches()
        ? FileProblem.ofStage(path, Integer.parseInt(stage.group(1)), "misfit", words)
        : FileProblem.of(path, "misfit", words);
  }

  /** Throws where stages are not for the model and cluster. */
  public static void refuseMisfits(Path path, List<StagePlan> stages, Costed costed) {
    for (String problem : PlanFit.problems(stages, costed)) {
      throw new BadInputException(path + ": " + problem);
    }
  }

  /** Throws where a plan cannot run for another reason than memory. */
  public static void refuse(List<FileProblem> problems) {
    for (FileProblem problem : problems) {
      if (!problem.what().equals("memory") && !problem.what().equals("figure")) {
        throw new BadInputException(problem.toString());
      }
    }
  }

  /** What keeps a plan from running: where its schedule does, as {@code check} says it. */
  public static String refusal(Path path, Schedule schedule, IllegalArgumentException failure) {
    return Validator.check(schedule, 1).stream()
        .map(problem -> FileProblem.ofPlan(path, problem).toString())
        .findFirst()
        .orElse(path + ": " + failure.getMessage());
  }
}
