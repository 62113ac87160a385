package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.page.Markup;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.trace.Timeline;
import dev.pipewright.units.Units;
import java.util.List;

/** A plan on its page: what its ranks spend the step on, and its rivals, as bars. */
final class PlanBars {
  private static final int MOST_BARS = 12;

  private PlanBars() {}

  /** One bar per rank, its parts adding up to the step. */
  static String occupations(Timeline timeline) {
    List<Occupation> ranks = Occupation.of(timeline);
    StringBuilder out = new StringBuilder("<ul class=\"legend\">");
    for (Occupation.Part part : Occupation.Part.values()) {
      if (occurs(part, ranks)) {
        out.append("<li><i class=\"").append(part.style).append("\"></i>");
        out.append(part.word).append("</li>");
      }
    }
    out.append("</ul>\n<div class=\"bars\">\n");
    for (Occupation rank : ranks) {
      out.append("<div class=\"name\">rank ").append(rank.rank());
      out.append("</div><div class=\"stack\">");
      for (Occupation.Part part : Occupation.Part.values()) {
        part(out, part, rank.seconds(part), timeline.stepSeconds());
      }
      out.append("</div>\n");
    }
    return out.append("</div>\n").toString();
  }

  private static boolean occurs(Occupation.Part part, List<Occupation> ranks) {
    for (Occupation rank : ranks) {
      if (rank.seconds(part) > 0) {
        return true;
      }
    }
    return false;
  }

  private static void part(StringBuilder out, Occupation.Part part, double seconds, double step) {
    double share = step > 0 ? seconds / step : 0;
    if (share < 5e-5) {
      return;
    }
    String percent = Units.percent(share);
    out.append("<span class=\"").append(part.style).append("\" style=\"width:");
    Units.appendFixed(out, 100 * share, 2);
    out.append("%\" title=\"").append(part.word).append(": ").append(Units.seconds(seconds));
    out.append(", ").append(percent).append("\">");
    out.append(share >= 0.09 ? percent : "").append("</span>");
  }

  /** The best plan and its rivals: estimate and simulation as bars on one scale. */
  static String rivals(Planning planning) {
    double longest = 0;
    int shown = Math.min(MOST_BARS, planning.candidates().size());
    for (int i = 0; i < shown; i++) {
      Candidate candidate = planning.candidates().get(i);
      longest =
          Math.max(longest, Math.max(candidate.seconds(), candidate.estimate().stepSeconds()));
    }
    StringBuilder out = new StringBuilder("<ul class=\"legend\"><li><i class=\"simulated\"></i>");
    out.append(
        "simulated</li><li><i class=\"estimate\"></i>estimate</li></ul>\n<div class=\"rivals\">\n");
    for (int i = 0; i < shown; i++) {
      rival(out, planning, i, longest);
    }
    return out.append("</div>\n").toString();
  }

  private static void rival(StringBuilder out, Planning planning, int rank, double longest) {
    Candidate candidate = planning.candidates().get(rank);
    out.append("<div class=\"rival\"><div class=\"name\"><b>");
    Markup.append(out, candidate.kind());
    out.append("</b> <span>");
    Markup.append(out, Words.shape(candidate.plan(), 48) + ", " + Words.rhythm(candidate.plan()));
    if (!candidate.decisive().fits()) {
      out.append(" <em>does not fit</em>");
    }
    out.append("</span></div>");
    if (candidate.simulated().isPresent()) {
      double seconds = candidate.simulated().get().stepSeconds();
      bar(out, "simulated", seconds, longest, Tables.against(planning, rank));
    }
    bar(out, "estimate", candidate.estimate().stepSeconds(), longest, "");
    out.append("</div>\n");
  }

  private static void bar(
      StringBuilder out, String type, double seconds, double longest, String note) {
    out.append("<div class=\"line\"><i class=\"").append(type).append("\" style=\"--share:");
    Units.appendFixed(out, longest > 0 ? seconds / longest : 0, 4);
    out.append("\"></i><span>").append(Units.seconds(seconds));
    if (!note.isEmpty()) {
      out.append(" · ").append(note);
    }
    out.append("</span></div>");
  }
}
