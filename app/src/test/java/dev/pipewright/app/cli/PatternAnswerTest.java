package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PatternAnswerTest {
  private static Cli plan(String memory, String... more) {
    String[] args = {"--planner", "madpipe", "--global-batch", "64", "--memory", memory};
    for (String one : more) {
      args = Cli.with(args, one);
    }
    return Cli.plan("vgg-19", "dapple-a:1x4", Cli.with(args, "--recompute=none"));
  }

  @Test
  void showsStagesApartAndHowMuchLongerNeighboursTake() {
    String text = plan("6GiB").ends(0).out();
    assertTrue(text.contains("one stage per device: "), text);
    assertTrue(text.lines().filter(line -> line.contains("layers ")).count() == 4, text);
    assertTrue(text.lines().anyMatch(line -> line.split("layers ").length == 3), text);
    assertFalse(plan("6GiB", "--json").ends(0).json().at("/plan/contiguous").asBoolean(true));
  }

  @Test
  void saysWhatWouldDoWhereNothingFits() {
    plan("1GiB").refusal(1, "nothing fits: ", "on each of the 4 would do");
  }
}
