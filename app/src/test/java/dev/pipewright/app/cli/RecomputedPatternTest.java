package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Periodic plans of which some layers run again, from {@code plan} to {@code simulate}. */
class RecomputedPatternTest {
  @TempDir private Path folder = Path.of("");

  private Path planned(String recompute) {
    Path out = folder.resolve(recompute);
    Cli.plan(
            "resnet-50",
            "dapple-a:1x4",
            "--global-batch",
            "16",
            "--planner",
            "madpipe",
            "--memory",
            "1e9",
            "--recompute",
            recompute,
            "--out",
            out.toString())
        .ends(0);
    return out.resolve("plan.json");
  }

  private static JsonNode json(Path file) {
    return JsonMapper.shared().readTree(Cli.text(file));
  }

  private static double value(JsonNode json) {
    return json.at("/objective/value").asDouble();
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "auto", "selective", "stage-input", "full"})
  void whateverRunsAgainIsReadAndRunsAsItSays(String recompute) {
    Path file = planned(recompute);
    Cli.run("check", file.toString()).ends(0);
    JsonNode run = Cli.run("simulate", file.toString(), "--json").ends(0).json();
    JsonNode stated = json(file);
    assertEquals(value(stated), value(run), 1e-9 * value(stated));
    for (int device = 0; device < 4; device++) {
      double bytes = stated.at("/plan/device_bytes/" + device).asDouble();
      assertTrue(bytes <= 1e9, stated::toString);
      assertTrue(run.at("/simulated/peak_bytes/" + device).asDouble() <= bytes + 1, run::toString);
    }
  }

  @Test
  void whatMemoryDemandsIsFasterThanAllOrNothing() {
    JsonNode selective = json(planned("selective"));
    assertEquals(value(selective), value(json(planned("auto"))));
    JsonNode all = json(planned("stage-input"));
    assertTrue(value(selective) < value(json(planned("none"))), selective::toString);
    assertTrue(value(selective) < value(all), selective::toString);
    assertEquals("selective", selective.at("/plan/stages/0/recompute").asString());
    assertFalse(selective.at("/plan/stages/0/recomputed").isEmpty());
    for (JsonNode stage : all.at("/plan/stages")) {
      assertEquals("stage-input", stage.get("recompute").asString());
    }
    String text =
        Cli.run("simulate", folder.resolve("selective").resolve("plan.json").toString())
            .ends(0)
            .out();
    assertTrue(text.contains(" recomputed)"), text);
  }

  @ParameterizedTest(name = "{3}")
  @CsvSource(
      delimiter = '|',
      value = {
        "1 | \"recompute\": \"selective\" | \"recompute\": \"none\" | layers to compute again belong to selective recomputation",
        "2 | \"recompute\": \"selective\" | \"recompute\": \"often\" | is the text \"often\"; expected one of",
        "1 | \"recomputed\": \\[\\[0, | \"recomputed\": [[999, | [999, ",
        "2 | \"recomputed\": \\[\\[ | \"recomputed\": [[0], [ | holds 1 numbers; expected [first, last], last inclusive",
        "1 | \"recomputed\": \\[ | \"recomputed\": [[900, 901],  | layers to compute again are in order and of the stage",
      })
  void whatContradictsItselfIsToldInOneSentence(int status, String good, String bad, String words) {
    String file = damaged(good, bad).toString();
    Cli.contradicts(status, file, words);
  }

  private Path damaged(String good, String bad) {
    String text = Cli.text(planned("selective"));
    Matcher match = Pattern.compile(good).matcher(text);
    assertTrue(match.find(), () -> good + " is not in " + text);
    return Cli.file(folder, "bad.json", match.replaceFirst(bad));
  }

  @Test
  void otherLayersThanThoseStatedHaveOtherFigures() {
    Path file =
        damaged("\"recompute\": \"selective\",\\s*\"recomputed\": .*", "\"recompute\": \"none\",");
    JsonNode json = Cli.run("check", file.toString(), "--json").ends(1).json();
    String problems = json.get("problems").toString();
    assertTrue(problems.contains("plan.stages[0].backward_s is "), problems);
    assertTrue(problems.contains("\"what\":\"memory\""), problems);
  }
}
