package dev.pipewright.formats.schedule;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.schedule.check.Validator.Place;
import dev.pipewright.schedule.check.Validator.Problem;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What keeps a schedule or plan from running, and where in its file.
 *
 * @param line from 1; 0 for the file as a whole
 * @param column from 1; 0 for the line as a whole
 * @param what one word: {@code missing}, {@code deadlock}, {@code memory}, …
 * @param rank −1 where it belongs to none; likewise stage and micro-batch
 * @param message a sentence
 * @param ring of a deadlock, who waits for what, each with its place
 */
public record FileProblem(
    Path file,
    int line,
    int column,
    String what,
    int rank,
    int stage,
    int microBatch,
    String message,
    List<String> ring) {
  public FileProblem {
    ring = List.copyOf(ring);
  }

  /** One of the file as a whole. */
  public static FileProblem of(Path file, String what, String message) {
    return new FileProblem(file, 0, 0, what, -1, -1, -1, message, List.of());
  }

  /** One of a file that reads well. */
  public static FileProblem of(BadInputException.Unsound unsound) {
    return new FileProblem(
        unsound.file(), unsound.line(), 0, "unsound", -1, -1, -1, unsound.mistake(), List.of());
  }

  /** One for each stage that no rank runs: a file that was cut off between lines may have some. */
  static List<FileProblem> nowhere(Path file, int[] rankOf, int depth) {
    List<FileProblem> problems = new ArrayList<>();
    for (int stage = 0; stage < rankOf.length; stage++) {
      if (rankOf[stage] < 0) {
        String chain = rankOf.length > depth ? " of chain " + stage / depth : "";
        String words =
            "no rank runs stage %d%s, but there are stages 0..%d; the line of its rank is missing"
                .formatted(stage % depth, chain, depth - 1);
        problems.add(new FileProblem(file, 0, 0, "missing", -1, stage, -1, words, List.of()));
      }
    }
    return problems;
  }

  /** One of a plan's stage, which is its rank too. */
  public static FileProblem ofStage(Path plan, int stage, String what, String message) {
    OpPlaces stages = PlanStagePlaces.of(plan);
    boolean there = stage < stages.ranks();
    return new FileProblem(
        plan,
        there ? stages.line(stage, -1) : 0,
        there ? stages.column(stage, -1) : 0,
        what,
        stage,
        stage,
        -1,
        message,
        List.of());
  }

  /** One of a plan's schedule: it stands where the stage stands. */
  public static FileProblem ofPlan(Path plan, Problem problem) {
    return of(plan, PlanStagePlaces.of(plan), problem);
  }

  static FileProblem of(Path file, OpPlaces places, Problem problem) {
    Place at = problem.at();
    return new FileProblem(
        file,
        places.line(at.rank(), at.position()),
        places.column(at.rank(), at.position()),
        word(problem),
        at.rank(),
        at.op().stage(),
        at.op().microBatch(),
        problem.toString(),
        ring(file, places, problem));
  }

  private static String word(Problem problem) {
    return switch (problem) {
      case Problem.Missing missing -> "missing";
      case Problem.Duplicate duplicate -> "duplicate";
      case Problem.Foreign foreign -> "foreign";
      case Problem.Absent absent -> "absent";
      case Problem.Together together -> "together";
      case Problem.Order order -> "order";
      case Problem.Late late -> "order";
      case Problem.Unused unused -> "deadlock";
      case Problem.Deadlock deadlock -> "deadlock";
      case Problem.Early early -> "early";
      case Problem.Overlap overlap -> "overlap";
      case Problem.OverCap overCap -> "memory";
    };
  }

  private static List<String> ring(Path file, OpPlaces places, Problem problem) {
    List<String> ring = new ArrayList<>();
    if (problem instanceof Problem.Deadlock deadlock) {
      for (Problem.Deadlock.Wait wait : deadlock.cycle()) {
        Place at = wait.at();
        ring.add(
            "%s:%d:%d: rank %d waits with %s for %s on rank %d"
                .formatted(
                    file,
                    places.line(at.rank(), at.position()),
                    places.column(at.rank(), at.position()),
                    at.rank(),
                    at,
                    wait.needed(),
                    wait.needed().rank()));
      }
    }
    return ring;
  }

  /** The problem as an object of an answer; what does not apply is null. */
  public Map<String, Object> json() {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("what", what);
    object.put("file", file.toString());
    object.put("line", known(line, 1));
    object.put("column", known(column, 1));
    object.put("rank", known(rank, 0));
    object.put("stage", known(stage, 0));
    object.put("micro_batch", known(microBatch, 0));
    object.put("message", message);
    if (!ring.isEmpty()) {
      object.put("ring", ring);
    }
    return object;
  }

  private static Optional<Integer> known(int number, int least) {
    return number < least ? Optional.empty() : Optional.of(number);
  }

  /** {@code FILE:LINE:COLUMN: message}, as far as there are line and column. */
  @Override
  public String toString() {
    return file
        + (line > 0 ? ":" + line : "")
        + (line > 0 && column > 0 ? ":" + column : "")
        + ": "
        + message;
  }
}
