package dev.pipewright.app.report.text;

import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.units.Units;
import java.util.List;

/** How reports word layers, devices and shapes of plans. */
public final class Words {
  /** A blank at which lines do not break. */
  static final char GLUE = '\u00a0';

  private Words() {}

  /** {@code 0–29}, or {@code 7} where first and last agree. */
  public static String range(int first, int last) {
    return first == last ? Integer.toString(first) : first + "–" + last;
  }

  /** {@code 0–7,16–23}: runs of consecutive devices, in the order given. */
  public static String devices(List<Integer> devices) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < devices.size(); ) {
      int last = i;
      while (last + 1 < devices.size() && devices.get(last + 1) == devices.get(last) + 1) {
        last++;
      }
      text.append(text.isEmpty() ? "" : ",").append(range(devices.get(i), devices.get(last)));
      i = last + 1;
    }
    return text.toString();
  }

  /** The same in at most {@code width} columns: {@code 0,2,4,…(8)} ends in how many there are. */
  public static String devices(List<Integer> devices, int width) {
    String all = devices(devices);
    if (all.length() <= width) {
      return all;
    }
    String end = "…(" + devices.size() + ")";
    int cut = all.lastIndexOf(',', width - end.length() - 1);
    return cut < 0 ? devices.size() + " devices" : all.substring(0, cut + 1) + end;
  }

  /** {@code 0–29 ×8, 30–54 ×8t4}: layers, devices and tensor-parallel degrees of each stage. */
  static String shape(PipelinePlan plan) {
    StringBuilder text = new StringBuilder();
    for (StagePlan stage : plan.stages()) {
      text.append(text.isEmpty() ? "" : ", ")
          .append(range(stage.firstLayer(), stage.lastLayer()))
          .append(" ×")
          .append(stage.devices().size())
          .append(stage.parallelism().degree());
    }
    return text.toString();
  }

  /** The shape in at most {@code width} columns, counting stages where listing them takes more. */
  public static String shape(PipelinePlan plan, int width) {
    String all = shape(plan);
    if (all.length() <= width) {
      return all;
    }
    int devices = plan.devices();
    int fewest = Integer.MAX_VALUE;
    int most = 0;
    for (StagePlan stage : plan.stages()) {
      int own = stage.devices().size();
      fewest = Math.min(fewest, own);
      most = Math.max(most, own);
    }
    boolean alike = plan.stages().stream().map(StagePlan::parallelism).distinct().count() == 1;
    return fewest == most && alike
        ? stages(plan) + " ×" + most + plan.stages().get(0).parallelism().degree()
        : plan.stages().size() + " stages on " + devices;
  }

  /** {@code 4 stages}, {@code 16 stages on 8 ranks}. */
  public static String stages(PipelinePlan plan) {
    int ranks = plan.placement().ranks();
    String stages = count(plan.stages().size(), "stage");
    return ranks == plan.stages().size() ? stages : stages + " on " + count(ranks, "rank");
  }

  /**
   * {@code estimate 107 ms, simulation +2.5 %}: what another source says of a simulated duration,
   * or that it says the same.
   */
  public static String against(String source, double seconds, double simulated) {
    String other = Units.seconds(seconds);
    if (other.equals(Units.seconds(simulated))) {
      return "the " + source + " agrees";
    }
    String change = seconds > 0 ? Numbers.change(simulated / seconds - 1) : "";
    boolean differs = !change.isEmpty() && !change.equals(Numbers.change(0));
    return source + " " + other + (differs ? ", simulation " + change : "");
  }

  /** {@code 1.00 ms; the simulation +2.0 %}, or that both say the same. */
  public static String planned(double expected, double found, String what) {
    if (expected == 0 || Units.seconds(expected).equals(Units.seconds(found))) {
      return expected == 0 ? Units.seconds(expected) : "the same";
    }
    return Units.seconds(expected) + "; the " + what + " " + Numbers.change(found / expected - 1);
  }

  /** {@code text} with blanks that do not break between a number and its unit. */
  public static String glue(String text) {
    StringBuilder out = new StringBuilder(text);
    for (int i = out.indexOf(" ", 1); i > 0; i = out.indexOf(" ", i + 1)) {
      if (Character.isDigit(out.charAt(i - 1)) && isUnit(out, i + 1)) {
        out.setCharAt(i, GLUE);
      }
    }
    return out.toString();
  }

  private static boolean isUnit(StringBuilder text, int from) {
    int to = from;
    while (to < text.length() && (Character.isLetter(text.charAt(to)) || text.charAt(to) == '%')) {
      to++;
    }
    return switch (text.substring(from, to)) {
      case "%", "s", "ms", "µs", "ns", "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" -> true;
      default -> false;
    };
  }

  /** {@code 1 stage}, {@code 2 stages}, {@code 2 micro-batches}. */
  public static String count(long count, String noun) {
    String ending = count == 1 ? "" : noun.endsWith("ch") ? "es" : "s";
    return Numbers.grouped(count) + " " + noun + ending;
  }

  /** {@code 64 micro-batches of 1, schedule 1f1b, gradients overlapped}. */
  public static String rhythm(PipelinePlan plan) {
    StringBuilder text = new StringBuilder(count(plan.microBatches(), "micro-batch"));
    text.append(" of ").append(plan.microBatch());
    if (plan.replicas() > 1) {
      text.append(" in ").append(plan.replicas()).append(" replicas");
    }
    text.append(", schedule ").append(plan.spec().scheduleName());
    if (plan.overlapGradients()) {
      text.append(", gradients overlapped");
    }
    return text.toString();
  }
}
