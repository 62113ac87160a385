package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

class PlanReasonsTest {
  private static final String GPT = "gpt:layers=6,hidden=512,heads=8,sequence=256,vocabulary=1024";
  private static final String CLUSTER = "dapple-a:2x2";

  @TempDir Path folder;

  private static Cli plan(String... more) {
    List<String> all = new ArrayList<>(List.of("--global-batch", "16"));
    all.addAll(List.of(more));
    return Cli.plan(GPT, CLUSTER, all.toArray(String[]::new));
  }

  private static JsonNode alternative(JsonNode answer, String name) {
    for (JsonNode each : answer.get("why").get("alternatives")) {
      if (each.get("name").asString().equals(name)) {
        return each;
      }
    }
    throw new AssertionError(name + " is not among " + answer.get("why"));
  }

  private static double simulated(JsonNode answer) {
    return answer.get("simulated").get("step_s").asDouble();
  }

  /** What is said of another plan is what {@code --evaluate} says of it. */
  @Test
  void aPlanIsComparedAsItIsScored() {
    String out = folder.resolve("gpipe").toString();
    plan("--planner", "gpipe", "--stages", "4", "--out", out).ends(0);
    String other = folder.resolve("gpipe/plan.json").toString();
    JsonNode answer = plan("--against", other, "--json").ends(0).json();
    JsonNode scored = plan("--evaluate", other, "--json").ends(0).json();
    JsonNode compared = alternative(answer, "the plan of " + other);
    assertEquals(simulated(scored), compared.get("seconds").asDouble(), 1e-12);
    assertEquals(simulated(scored) / simulated(answer) - 1, compared.get("gap").asDouble(), 1e-9);
    assertFalse(compared.get("because").isEmpty());
    String sentence = compared.get("sentence").asString();
    assertTrue(sentence.contains(" (4 stages on 1 device each, gpipe, "), sentence);
    String report = plan("--against", other).ends(0).out().replaceAll("\\s+", " ");
    assertTrue(report.contains("compared the plan of "), report);
  }

  @Test
  void thePlanThatIsFoundIsAsLongAsItself() {
    plan("--out", folder.resolve("best").toString()).ends(0);
    String best = folder.resolve("best/plan.json").toString();
    JsonNode compared =
        alternative(plan("--against", best, "--json").ends(0).json(), "the plan of " + best);
    assertEquals(0, compared.get("gap").asDouble(), 1e-12);
  }

  /** Arguments of Megatron-LM are the plan that they would be as a file. */
  @Test
  void argumentsAreAPlan() {
    String arguments =
        "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --micro-batch-size 2";
    JsonNode compared =
        alternative(plan("--against", arguments, "--json").ends(0).json(), "your plan");
    Path file = Cli.file(folder, "args.sh", arguments + " --num-layers 6 --global-batch-size 16\n");
    JsonNode scored = plan("--evaluate", file.toString(), "--json").ends(0).json();
    assertEquals(simulated(scored), compared.get("seconds").asDouble(), 1e-12);
    assertEquals(8, compared.get("micro_batches").asInt());
    plan("--against", arguments.replace("parallel-size 2 --p", "parallel-size 3 --p"))
        .refusal(2, "--against", "4 devices are no multiple of tensor 3 times pipeline 2");
    plan(
            "--against",
            arguments.replace("--pipeline-model-parallel-size", "--pipelin-model-parallel-size"))
        .refusal(2, "--against", "did you mean \"--pipeline-model-parallel-size\"?");
    Cli.plan("vgg-16", CLUSTER, "--global-batch", "16", "--against", arguments)
        .refusal(2, "--against", "for decoders", "vgg-16 is none");
  }

  /** A change of the cluster is planned as if the cluster were so. */
  @Test
  void changesAreWhatAPlanThereTakes() throws Exception {
    JsonNode changes = plan("--what-if", "--json").ends(0).json().get("why").get("what_if");
    assertEquals(3, changes.size());
    assertEquals("one more machine", changes.get(0).get("change").asString());
    JsonNode larger =
        Cli.plan(GPT, "dapple-a:3x2", "--global-batch", "16", "--json").ends(0).json();
    assertEquals(simulated(larger), changes.get(0).get("seconds").asDouble(), 1e-12);
    plan("--what-if", "--out", folder.resolve("page").toString()).ends(0);
    String page = Files.readString(folder.resolve("page/report.html"));
    assertTrue(page.contains("<dt>What if</dt><dd>one more machine"), page);
    assertTrue(page.contains("<dt>Compared</dt><dd>"), page);
  }

  /** The plan that was found still fits where there is more, so nothing gets slower. */
  @Test
  void moreIsNoSlower() {
    String[] asked = {"--global-batch", "16", "--sequence", "2048", "--what-if", "--json"};
    JsonNode changes =
        Cli.plan("llama3-8b", "h100:1x8", asked).ends(0).json().get("why").get("what_if");
    assertEquals(2, changes.size()); // the data sheet has a bandwidth of its own
    for (JsonNode change : changes) {
      assertTrue(change.get("gain").asDouble() >= -1e-9, change.toString());
    }
  }

  @Test
  void mistakesAreSaidInASentence() {
    String missing = folder.resolve("missing.json").toString();
    plan("--against", missing).refusal(2, "missing.json", "no such file");
    plan("--out", folder.resolve("a").toString()).ends(0);
    String file = folder.resolve("a/plan.json").toString();
    plan("--evaluate", file, "--what-if").refusal(2, "--what-if", "leave out --evaluate");
    plan("--evaluate", file, "--against", file).refusal(2, "--against", "leave out --evaluate");
    Cli.plan(GPT, CLUSTER, "--global-batch", "32", "--against", file)
        .refusal(2, "plan.json", "give --global-batch 16");
    plan("--smallest-cluster", "--what-if").refusal(2, "--what-if", "leave out --smallest-cluster");
    plan("--planner", "pipedream", "--what-if").refusal(2, "--what-if", "does not support it");
  }
}
