package dev.pipewright.app.cli;

import static dev.pipewright.app.cli.PredictCommandTest.predicted;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.predict.paradl.Strategy;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Rows of {@code predict} that are plans, against the commands that read them back. */
class PredictedPlansTest {
  @TempDir Path folder;

  private static final String MIXTURE =
      "mixtral:layers=6,hidden=512,heads=8,kv-heads=4,ffn=1024,sequence=256,vocabulary=8192,"
          + "experts=8,chosen=2";

  @Test
  void aMixtureHasContextAndExpertParallelism() {
    JsonNode rows =
        predicted(MIXTURE, "dapple-a:2x4", "--global-batch", "16", "--devices", "4", "--json")
            .ends(0)
            .json()
            .get("rows");
    assertEquals(Strategy.values().length, rows.size());
  }

  /** The plan of a row, read back by {@code check}, {@code simulate} and {@code plan}. */
  @ParameterizedTest
  @CsvSource({
    "context, 4, 1, context:4",
    "expert, 8, 1, expert:8",
    "expert, 8, 8, expert:8x1",
    "data+context, 8, 2, context:2",
    "data+expert, 8, 2, expert:2x1"
  })
  void tokensAndExpertsAreDividedAsInTheirPlan(
      String strategy, String devices, String micro, String parallelism) {
    int degree = Parallelism.parse(parallelism).orElseThrow().parts();
    JsonNode row =
        predicted(
                MIXTURE,
                "dapple-a:2x4",
                "--global-batch",
                "16",
                "--json",
                "--strategies",
                strategy,
                "--devices",
                devices,
                "--micro-batch",
                micro,
                "--tensor",
                Integer.toString(degree))
            .ends(0)
            .json()
            .get("rows")
            .get(0);
    double step = row.get("iteration_s").asDouble();
    assertEquals(
        parallelism, row.at("/plan/stages").get(0).get("parallelism").asString(), row::toString);
    String plan = Cli.file(folder, "plan.json", row.get("plan").toString()).toString();
    String[] of = {plan, "--model", MIXTURE, "--cluster", "dapple-a:2x4", "--json"};
    JsonNode checked =
        Cli.run(Stream.concat(Stream.of("check"), Stream.of(of)).toArray(String[]::new))
            .ends(0)
            .json();
    assertTrue(checked.get("valid").asBoolean());
    near(16 / step, checked.get("samples_per_s").asDouble());
    JsonNode simulated =
        Cli.run(Stream.concat(Stream.of("simulate"), Stream.of(of)).toArray(String[]::new))
            .ends(0)
            .json();
    near(step, simulated.get("objective").get("value").asDouble());
    assertEquals(
        row.get("memory_bytes").asLong(),
        simulated.at("/plan/stages").get(0).get("memory_bytes").asLong());
  }

  /** The plan of a row, read back by {@code plan}: the same time and memory. */
  @ParameterizedTest
  @CsvSource({
    "tensor, 4, none, 1f1b",
    "sequence, 4, full, 1f1b",
    "pipeline, 4, stage-input, gpipe",
    "pipeline, 4, none, interleaved",
    "data+tensor+pipeline, 8, auto, 1f1b",
    "data+tensor+pipeline, 8, none, zb-h1",
    "data+sequence+pipeline, 8, full, chimera"
  })
  void aRowThatIsAPlanIsEvaluatedAlike(
      String strategy, String devices, String recompute, String schedule) {
    String gpt = "gpt:layers=6,hidden=512,heads=8,sequence=256,vocabulary=8192";
    String[] flags = {"--global-batch", "16", "--json"};
    JsonNode row =
        predicted(
                gpt,
                "dapple-a:2x4",
                Stream.concat(
                        Stream.of(flags),
                        Stream.of(
                            "--strategies",
                            strategy,
                            "--devices",
                            devices,
                            "--recompute",
                            recompute,
                            "--schedule",
                            schedule))
                    .toArray(String[]::new))
            .ends(0)
            .json()
            .get("rows")
            .get(0);
    Path plan = Cli.file(folder, "plan.json", row.get("plan").toString());
    JsonNode answer =
        Cli.run(
                "plan",
                gpt,
                "--cluster",
                "dapple-a:2x4",
                "--global-batch",
                "16",
                "--evaluate",
                plan.toString(),
                "--json")
            .ends(0)
            .json();
    near(row.get("iteration_s").asDouble(), answer.get("objective").get("value").asDouble());
    long fullest = 0;
    for (JsonNode stage : answer.get("plan").get("stages")) {
      fullest = Math.max(fullest, stage.get("memory_bytes").asLong());
    }
    assertEquals(row.get("memory_bytes").asLong(), fullest);
  }

  @Test
  void theNumberOfChunksMeansTheInterleavedSchedule() {
    String[] flags = {
      "--strategies", "pipeline", "--devices", "2", "--global-batch", "16", "--json"
    };
    String gpt = "gpt:layers=6,hidden=512,heads=8,sequence=256";
    JsonNode row =
        predicted(gpt, "dapple-a:2x4", Cli.with(Cli.with(flags, "--interleave"), "3"))
            .ends(0)
            .json()
            .get("rows")
            .get(0);
    assertEquals("interleaved", row.at("/plan/schedule").asString());
    assertEquals(6, row.at("/plan/stages").size());
    Cli unknown =
        predicted(gpt, "dapple-a:2x4", Cli.with(Cli.with(flags, "--schedule"), "zb-auto"));
    assertTrue(
        unknown
            .ends(2)
            .err()
            .startsWith(
                "pipewright: --schedule: zb-auto is no pipeline that `predict` prices; one of gpipe"),
        unknown.err());
  }

  private static void near(double expected, double actual) {
    assertEquals(expected, actual, 1e-9 * expected);
  }
}
