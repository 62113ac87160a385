package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.plan.PeriodicAnswer;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.GivenMemory;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.model.Chain;
import dev.pipewright.planner.madpipe.PeriodicPlanner;
import dev.pipewright.planner.madpipe.PeriodicProblem;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class PeriodicAnswerTest {
  private static PeriodicAnswer answer(double gibibytes) {
    var model = Models.find("vgg-19").orElseThrow();
    var cluster = Clusters.find("dapple-a:1x4").orElseThrow();
    var profile = Roofline.profile(model.graph(), cluster, model.training(), List.of(64));
    var workload = new Workload(Chain.of(model.graph()), profile, model.training(), cluster);
    var costed =
        new Costed(
            "vgg-19",
            "dapple-a:1x4",
            new StageCosts(workload),
            GivenMemory.NONE,
            64,
            OptionalLong.empty());
    var problem = PeriodicProblem.of(costed.costs(), 64).within(gibibytes * (1L << 30));
    return new PeriodicAnswer(PeriodicPlanner.plan(problem, () -> false), costed, 64, 0.1);
  }

  private static String printed(PeriodicAnswer answer) {
    StringWriter text = new StringWriter();
    answer.print(new PrintWriter(text, true));
    return text.toString();
  }

  @Test
  void showsStagesApartAndHowMuchLongerNeighboursTake() {
    PeriodicAnswer answer = answer(6);
    String text = printed(answer);
    assertTrue(text.contains("one stage per device: "), text);
    assertTrue(text.lines().filter(line -> line.contains("layers ")).count() == 4, text);
    assertTrue(text.lines().anyMatch(line -> line.split("layers ").length == 3), text);
    assertTrue(answer.json().contains("\"contiguous\": false"), text);
    assertTrue(answer.nothing().isEmpty());
  }

  @Test
  void saysWhatWouldDoWhereNothingFits() {
    PeriodicAnswer answer = answer(1);
    assertTrue(answer.nothing().orElseThrow().contains("on each of the 4 would do"));
    assertEquals("", printed(answer));
  }
}
