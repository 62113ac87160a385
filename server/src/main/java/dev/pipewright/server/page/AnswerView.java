package dev.pipewright.server.page;

import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.formats.json.Node;
import dev.pipewright.server.store.KeptStudy;
import dev.pipewright.server.study.Members;
import dev.pipewright.server.study.StudyRequest;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What the page of an answer shows, in the order in which it does: all of it is read from the
 * answer's JSON.
 *
 * @param price of a device-hour, as the user gave it; empty for none
 * @param form the fields that ask the same
 */
public record AnswerView(
    String id,
    String title,
    String subject,
    List<String> remarks,
    List<Figure> figures,
    List<String> reasons,
    Table stages,
    Table memory,
    Table pareto,
    boolean isFront,
    List<Figure> costs,
    String price,
    String command,
    String version,
    String when,
    Map<String, String> form,
    List<String> files) {

  /** Reads an answer. */
  static AnswerView of(KeptStudy study, List<String> files, String price) {
    Map<String, String> form = StudyRequest.form(study.command(), study.id());
    Members answer = Members.of(study.answer());
    boolean front = answer.has("front");
    return new AnswerView(
        study.id(),
        form.getOrDefault("model", "") + " on " + form.getOrDefault("cluster", ""),
        subject(form, answer),
        study.remarks().lines().toList(),
        front ? List.of() : AnswerFigures.headlines(answer),
        reasons(answer),
        AnswerTables.stages(answer),
        AnswerTables.memory(answer),
        front ? AnswerTables.front(answer) : AnswerTables.candidates(answer),
        front,
        AnswerFigures.costs(answer, price),
        price,
        "pipewright " + String.join(" ", study.command()),
        study.version(),
        Times.minutes(study.created()),
        form,
        files);
  }

  /** Whether the command wrote a file of this name. */
  public boolean hasFile(String name) {
    return files.contains(name);
  }

  private static String subject(Map<String, String> form, Members answer) {
    return Stream.of(
            form.getOrDefault("batch", "") + " samples a step",
            answer.text("precision"),
            answer.text("optimizer"),
            answer.member("plan").text("schedule"),
            "planner " + answer.text("planner"))
        .filter(word -> !word.isBlank() && !word.equals("planner "))
        .reduce((all, word) -> all + " · " + word)
        .orElse("");
  }

  private static List<String> reasons(Members answer) {
    Members why = answer.member("why");
    List<String> reasons = new ArrayList<>();
    if (why.has("binding")) {
      reasons.add("Bound by " + why.text("binding") + ".");
    }
    Members second = why.member("runner_up");
    if (second.has("seconds")) {
      reasons.add(
          "The runner-up (%s) takes %s, %s."
              .formatted(
                  second.text("kind"),
                  Units.seconds(second.number("seconds")),
                  Numbers.change(second.number("gap"))));
    }
    for (Node each : why.list("alternatives")) {
      String sentence = new Members(each.members()).text("sentence");
      if (!sentence.isEmpty()) {
        reasons.add(Character.toUpperCase(sentence.charAt(0)) + sentence.substring(1) + ".");
      }
    }
    Members bound = answer.member("lower_bound");
    if (bound.has("why") && !bound.text("why").isEmpty()) {
      reasons.add("The lower bound holds by " + bound.text("why") + ".");
    }
    return reasons.stream().map(Words::glue).toList();
  }
}
