package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** {@code predict --search}: the layouts of a transformer. */
class PredictSearchTest {
  private static final String LLAMA = "predict llama3-8b --cluster dgx-h100:2x8 --global-batch 32";
  private static final String SEARCH = LLAMA + " --devices 16 --search";

  @TempDir private Path folder;

  private static Cli run(String line) {
    return Cli.run(line.split(" ", -1));
  }

  private static JsonNode json(String line) {
    return run(line + " --json").ends(0).json();
  }

  private static double number(JsonNode row, String name) {
    return row.get(name).asDouble();
  }

  /** The command line that states a row's layout. */
  private static String stated(JsonNode row) {
    return LLAMA
        + " --devices %d --tensor %d --pipeline %d --context %d %s --micro-batch %d --zero %d --recompute %s --offload-layers %d%s%s%s"
            .formatted(
                row.get("devices").asInt(),
                row.get("tensor").asInt(),
                row.get("pipeline").asInt(),
                row.get("context").asInt(),
                row.has("pipeline_layout")
                    ? "--pipeline-layout " + row.get("pipeline_layout").asString()
                    : "--interleave " + row.get("interleave").asInt(),
                row.get("micro_batch_per_rank").asInt(),
                row.get("zero").asInt(),
                row.get("recompute").asString(),
                row.get("offload_layers").asInt(),
                row.get("sequence_parallel").asBoolean() ? " --sequence-parallel" : "",
                row.has("reshard") ? " --reshard " + row.get("reshard").asString() : "",
                row.has("schedule") ? " --schedule " + row.get("schedule").asString() : "");
  }

  /** Also those of the front, and those of the heat map. */
  @Test
  void statedLayoutsTakeWhatTheSearchSays() {
    JsonNode answer = json(SEARCH);
    assertEquals(10, answer.get("rows").size());
    assertStatedLayoutsTakeWhatItSays(answer);
  }

  /** 32 layers on six ranks: two have six, the others five. */
  @Test
  void layersOfUnevenPipelinesAreStated() {
    String uneven = LLAMA + " --devices 12 --search --pipeline 6 --offload-layers 0";
    JsonNode answer = json(uneven);
    assertEquals(10, answer.get("rows").size());
    Set<String> layouts = new TreeSet<>();
    answer.get("rows").forEach(row -> layouts.add(row.get("pipeline_layout").asString()));
    assertEquals(Set.of("Et*6|t*6|(t*5|)*3,t*5,L"), layouts);
    assertStatedLayoutsTakeWhatItSays(answer);
    String said = "  its layers     --pipeline-layout Et*6|t*6|(t*5|)*3,t*5,L\n";
    String text = run(uneven).ends(0).out();
    assertTrue(text.contains(said), text);
    assertFalse(json(SEARCH).at("/rows/0").has("pipeline_layout"));
  }

  private static void assertStatedLayoutsTakeWhatItSays(JsonNode answer) {
    for (String list : new String[] {"rows", "pareto", "heat_map"}) {
      for (JsonNode row : answer.get(list)) {
        if (row.has("iteration_s")) {
          JsonNode alone = json(stated(row)).at("/rows/0");
          double seconds = number(row, "iteration_s");
          assertEquals(number(alone, "iteration_s"), seconds, 1e-12 * seconds, row.toString());
          assertEquals(number(alone, "memory_bytes"), number(row, "memory_bytes"), 1);
          assertTrue(alone.get("fits").asBoolean());
        }
      }
    }
  }

  @Test
  void theBestIsFirstAndOnTheFrontAndTheLeastOfTheHeatMap() {
    JsonNode answer = json(SEARCH);
    double best = answer.at("/rows/0/iteration_s").asDouble();
    double before = 0;
    double ratio = answer.at("/searched/0/distinct_ratio").asDouble();
    for (JsonNode row : answer.get("rows")) {
      double seconds = number(row, "iteration_s");
      assertTrue(before <= seconds);
      assertEquals(seconds > best * ratio, row.get("distinct").asBoolean());
      before = seconds;
    }
    assertTrue(ratio > 1.01 && ratio < 1.5, "ratio " + ratio);
    assertEquals(best, answer.at("/pareto/0/iteration_s").asDouble());
    double least = Double.POSITIVE_INFINITY;
    for (JsonNode cell : answer.get("heat_map")) {
      least = Math.min(least, cell.path("iteration_s").asDouble(Double.POSITIVE_INFINITY));
    }
    assertEquals(best, least);
    double memory = Double.POSITIVE_INFINITY;
    double time = 0;
    for (JsonNode one : answer.get("pareto")) {
      assertTrue(number(one, "iteration_s") > time && number(one, "memory_bytes") < memory);
      time = number(one, "iteration_s");
      memory = number(one, "memory_bytes");
    }
    JsonNode searched = answer.at("/searched/0");
    assertTrue(searched.get("layouts").asLong() > 10_000, searched.toString());
    assertTrue(searched.get("layouts_that_do_not_fit").asLong() > 0, searched.toString());
  }

  /** Rows name their schedule, which the closed form of the search need not be. */
  @Test
  void theTenAreOfAllSchedules() {
    Set<String> schedules = new TreeSet<>();
    for (JsonNode row : json(SEARCH).get("rows")) {
      schedules.add(row.get("schedule").asString());
    }
    assertTrue(schedules.contains("zb-v"), schedules::toString);
    assertTrue(Set.of("1f1b", "interleaved").stream().anyMatch(schedules::contains));
    String shown = run(SEARCH).ends(0).out();
    assertTrue(shown.contains(" zb-v "), shown);
  }

  @Test
  void givenDegreesStay() {
    String given =
        " --tensor 2 --pipeline 4 --zero 1 --micro-batch 1 --recompute full --interleave 2 --offload-layers 0";
    JsonNode answer = json(SEARCH + given);
    JsonNode searched = answer.at("/searched/0");
    assertEquals(4, searched.get("layouts").asInt()); // context 1 or 2, sequence parallel or not
    for (JsonNode row : answer.get("rows")) {
      assertEquals(2, row.get("tensor").asInt());
      assertEquals(4, row.get("pipeline").asInt());
      assertEquals(2, row.get("data").asInt() * row.get("context").asInt());
      assertEquals(1, row.get("zero").asInt());
      assertEquals("full", row.get("recompute").asString());
    }
    assertEquals(1, answer.get("heat_map").size());
  }

  /** None on fewer devices is excelled by one that takes as long. */
  @Test
  void severalNumbersOfDevicesHaveOneFront() {
    JsonNode answer = json(LLAMA + " --devices 8,16 --search --offload-layers 0");
    assertEquals(20, answer.get("rows").size());
    assertEquals(2, answer.get("searched").size());
    assertEquals(8, answer.at("/rows/0/devices").asInt());
    assertEquals(16, answer.at("/rows/10/devices").asInt());
    double least8 = Double.POSITIVE_INFINITY;
    for (JsonNode one : answer.get("pareto")) {
      if (one.get("devices").asInt() == 8) {
        least8 = Math.min(least8, number(one, "memory_bytes"));
      } else {
        assertTrue(
            number(one, "memory_bytes") < least8
                || number(one, "iteration_s") < answer.at("/pareto/0/iteration_s").asDouble());
      }
    }
    String text = run(LLAMA + " --devices 8,16 --search --offload-layers 0").ends(0).out();
    assertTrue(text.contains("layouts on 16 devices in "), text);
  }

  @Test
  void theTerminalShowsTheBestTheFrontAndTheFastest() {
    Cli run = run(SEARCH).ends(0);
    for (String words :
        new String[] {"  best step ", "distinguished", "of the front", "  fastest "}) {
      assertTrue(run.out().contains(words), words + " in\n" + run.out());
    }
    assertTrue(run.err().isEmpty(), run.err());
  }

  @Test
  void whereNothingFitsThatIsSaid() {
    Cli run =
        run("predict llama3-405b --cluster dgx-h100:1x8 --devices 8 --global-batch 8 --search")
            .ends(1);
    assertTrue(run.err().startsWith("pipewright: none of "), run.err());
    assertTrue(run.err().contains(" fits into 77.1 GiB; give more --devices"), run.err());
    assertFalse(run.out().contains("best step"), run.out());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--expert-tensor 2|--expert-tensor: does not go with --search, which states no single layout; leave one of them out",
        "--tokens 1e12|--tokens: does not go with --search, which states no single layout; leave one of them out",
        "--tensor 3|--search: no layout on 16 devices goes with a batch of 32, 32 layers and the degrees that are given; give fewer degrees, or another batch",
        "--optimizer sgd|--optimizer: layouts are predicted with adam, not sgd; leave it out",
        "--group 4|--group: does not go with --search, which is part of a stated layout; leave one of them out"
      })
  void everyMistakeIsOneSentence(String flags, String sentence) {
    String said = run(SEARCH + ' ' + flags).refusal(2, "");
    assertEquals(sentence, said.strip().split("\n", -1)[0].strip());
  }

  @Test
  void filesHoldTheAnswerAndItsPictures() throws Exception {
    Path out = folder.resolve("out");
    Cli run = run(SEARCH + " --offload-layers 0 --out " + out).ends(0);
    assertEquals("wrote search.json, front.svg, fastest.svg to " + out, run.err().strip());
    String measured = "\"search_s\": [-+.0-9E]+";
    String json = run(SEARCH + " --offload-layers 0 --json").ends(0).out();
    assertEquals(
        json.replaceFirst(measured, ""),
        Files.readString(out.resolve("search.json")).replaceFirst(measured, ""));
    String front = Files.readString(out.resolve("front.svg"));
    assertTrue(front.contains("16 devices") && front.contains("ZeRO "), front);
    String fastest = Files.readString(out.resolve("fastest.svg"));
    assertTrue(fastest.contains("tensor 2, pipeline 1: "), fastest);
  }
}
