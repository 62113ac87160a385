package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Gradients in 32 bits by default, in 16 where the user says so, alike in all commands. */
class GradientsFlagTest {
  private static final long PARAMETERS = 8_030_261_248L; // of llama3-8b
  private static final String PROBLEM = "llama3-8b --cluster h200:1x8 --global-batch 64";

  private static JsonNode json(String line) {
    return Cli.run((line + " --json").split(" ", -1)).ends(0).json();
  }

  @Test
  void aStatedLayoutHoldsAndExchangesFewerBytes() {
    String line = "predict " + PROBLEM + " --tensor 1 --pipeline 1 --micro-batch 1 --zero 1";
    JsonNode usual = json(line).at("/rows/0");
    JsonNode half = json(line + " --gradients bf16").at("/rows/0");
    double spared = usual.get("memory_bytes").asDouble() - half.get("memory_bytes").asDouble();
    assertEquals(2.0 * PARAMETERS, spared, 0.02 * spared);
    assertTrue(half.get("iteration_s").asDouble() < usual.get("iteration_s").asDouble());
    assertEquals(usual, json(line + " --gradients fp32").at("/rows/0"));
  }

  @Test
  void aSearchFindsNothingSlower() {
    String line = "predict " + PROBLEM + " --search";
    double usual = json(line).at("/rows/0/iteration_s").asDouble();
    double half = json(line + " --gradients bf16").at("/rows/0/iteration_s").asDouble();
    assertTrue(0 < half && half <= usual, half + " > " + usual);
  }

  @Test
  void aPlanKeepsTheFormat(@TempDir Path folder) throws Exception {
    String out = folder.resolve("out").toString();
    String plan = "plan " + PROBLEM + " --planner data --gradients bf16";
    JsonNode made = json(plan);
    assertEquals("bf16", made.get("gradients").asString());
    Cli.run((plan + " --out " + out).split(" ", -1)).ends(0);
    String file = out + "/plan.json";
    assertEquals(made.at("/objective"), json("simulate " + file).at("/objective"));
    String arguments = Files.readString(exported(file, folder.resolve("m")));
    assertTrue(arguments.contains("--grad-reduce-in-bf16"), arguments);
  }

  private static Path exported(String file, Path folder) {
    Cli.run("export", file, "--to", "megatron", "--nearest", "--out", folder.toString()).ends(0);
    return folder.resolve("megatron-args.sh");
  }

  @Test
  void otherFormatsAreRefused() {
    Cli.run(("plan " + PROBLEM + " --gradients fp8").split(" ", -1))
        .refusal(2, "--gradients: unknown 'fp8'; ");
    Cli.run(
            "plan gpt-2 --cluster h100:1x2 --global-batch 8 --precision fp32 --gradients bf16"
                .split(" ", -1))
        .refusal(
            2,
            "--gradients: gradients of fp32 have 32 bits; take --precision bf16 or leave it out");
  }
}
