package dev.pipewright.formats;

import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.schedule.FileProblem;
import dev.pipewright.units.Range;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The numbers that a plan file states of its plan, to be compared with those that the model gives.
 * What is not stated is not compared.
 */
public final class PlanFigures {
  private static final double ROUNDING = 1e-9; // a share, as of schedules
  private static final double WHOLE = 0.5; // of what is written rounded

  /** Nothing is stated. */
  public static final PlanFigures NONE = new PlanFigures(Path.of(""));

  private final Path file;
  private final Map<String, Node> figures = new LinkedHashMap<>(); // by place
  private final List<FileProblem> problems = new ArrayList<>();

  private PlanFigures(Path file) {
    this.file = file;
  }

  /** All numbers below the plan, and the objective's. */
  PlanFigures(PlanTree tree) {
    file = tree.file();
    add("", tree.plan());
    Node objective = tree.root().members().get("objective");
    Node name = objective == null ? null : objective.members().get("name");
    if (objective != null && name != null && name.is(Node.Type.TEXT)) {
      add("objective." + name.text(), objective);
    }
  }

  private void add(String place, Node node) {
    if (node.is(Node.Type.NUMBER)) {
      figures.put(place, node);
    }
    node.members().forEach((key, member) -> add(place.isEmpty() ? key : place + "." + key, member));
    for (int i = 0; i < node.elements().size(); i++) {
      add(place + "[" + i + "]", node.elements().get(i));
    }
  }

  /**
   * Compares seconds or another amount that is written exactly.
   *
   * @param place in the plan, like {@code stages[0].forward_s}; or of the objective, like {@code
   *     objective.step_s.value}
   */
  public void compare(String place, double counted) {
    compare(place, counted, ROUNDING * Math.abs(counted));
  }

  /** Compares bytes, or counts, that are written as whole numbers. */
  public void compareRounded(String place, double counted) {
    compare(place, counted, WHOLE + ROUNDING * Math.abs(counted));
  }

  private void compare(String place, double counted, double tolerance) {
    Node stated = figures.get(place);
    if (stated != null && !(Math.abs(stated.amount(Range.FIGURE) - counted) <= tolerance)) {
      String words =
          "%s is %s, but the plan gives %s; correct it or leave it out"
              .formatted(stated.place(), plain(stated.amount(Range.FIGURE)), plain(counted));
      problems.add(new FileProblem(file, stated.line(), 0, "figure", -1, -1, -1, words, List.of()));
    }
  }

  private static String plain(double number) {
    return number == Math.rint(number) && Math.abs(number) < 1e15
        ? Long.toString((long) number)
        : Double.toString(number);
  }

  /** The compared figures that differ from the stated ones. */
  public List<FileProblem> problems() {
    return List.copyOf(problems);
  }
}
