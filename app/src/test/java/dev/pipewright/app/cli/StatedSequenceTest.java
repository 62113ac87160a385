package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Samples of a stated length: planned, kept in the plan's file, and priced alike from it. */
class StatedSequenceTest {
  private static final String CONFIG =
      """
      {"model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 8,
       "num_attention_heads": 16, "num_key_value_heads": 4, "intermediate_size": 2816,
       "vocab_size": 32000, "max_position_embeddings": 32768, "torch_dtype": "bfloat16"}
      """;

  private static final String TABLE =
      "layer,forward_s,backward_s,output_bytes,parameter_bytes\na,1,1,8,8\nb,1,1,8,8\n";

  @TempDir private Path folder;
  private Path config = Path.of("");

  @BeforeEach
  void config() throws IOException {
    config = Files.writeString(folder.resolve("config.json"), CONFIG);
  }

  private JsonNode planned(String model, int tokens) {
    Path out = folder.resolve("plan-" + tokens);
    Cli.plan(
            model,
            "h100:1x4",
            "--global-batch",
            "16",
            "--sequence",
            "" + tokens,
            "--out",
            out.toString())
        .ends(0);
    Cli again =
        Cli.plan(model, "h100:1x4", "--global-batch", "16", "--sequence", "" + tokens, "--json");
    return again.ends(0).json();
  }

  @ParameterizedTest
  @ValueSource(strings = {"qwen3-0.6b", "CONFIG"})
  void longerSamplesTakeLongerAndPlansKeepTheirLength(String name) {
    String model = name.equals("CONFIG") ? config.toString() : name;
    double last = 0;
    for (int tokens : new int[] {2048, 8192}) {
      JsonNode plan = planned(model, tokens);
      double step = plan.get("objective").get("value").asDouble();
      assertFalse(step < 1.5 * last, () -> tokens + " tokens: " + step);
      last = step;
      assertEquals(tokens, plan.get("sequence").asInt());
      String file = folder.resolve("plan-" + tokens).resolve("plan.json").toString();
      double rate = 16 * tokens / step;
      for (JsonNode same :
          new JsonNode[] {
            Cli.run("simulate", file, "--json").ends(0).json(),
            Cli.plan(model, "h100:1x4", "--global-batch", "16", "--evaluate", file, "--json")
                .ends(0)
                .json()
          }) {
        assertEquals(step, same.get("objective").get("value").asDouble(), 1e-9 * step);
        assertEquals(tokens, same.get("sequence").asInt());
      }
      JsonNode checked = Cli.run("check", file, "--json").ends(0).json();
      assertEquals(rate, checked.get("tokens_per_s").asDouble(), 1e-9 * rate);
    }
  }

  @Test
  void theUserMayChooseAnotherLengthForAPlan() {
    planned(config.toString(), 2048);
    String file = folder.resolve("plan-2048").resolve("plan.json").toString();
    JsonNode own = Cli.run("simulate", file, "--json").ends(0).json();
    JsonNode other = Cli.run("simulate", file, "--sequence", "4096", "--json").ends(0).json();
    assertEquals(4096, other.get("sequence").asInt());
    assertNotEquals(
        own.get("objective").get("value").asDouble(),
        other.get("objective").get("value").asDouble(),
        1e-3);
  }

  @Test
  void aPlanWithoutALengthIsForTheUsualOne() throws IOException {
    planned(config.toString(), 4096); // the usual one of so many positions
    Path file = folder.resolve("plan-4096").resolve("plan.json");
    double stated = step(file);
    Files.writeString(file, Files.readString(file).replace("  \"sequence\": 4096,\n", ""));
    assertEquals(stated, step(file), 1e-9 * stated);
  }

  private static double step(Path file) {
    JsonNode answer = Cli.run("simulate", file.toString(), "--json").ends(0).json();
    return answer.get("objective").get("value").asDouble();
  }

  @ParameterizedTest
  @CsvSource({
    "vgg-16, 8, --sequence: vgg-16: is no transformer",
    "gnmt-16, 8, --sequence: gnmt-16: is no transformer",
    "vit-b-16, 8, 'vit-b-16: its samples are images'",
    "gpt-2, 2048, give at most 1024",
    "gpt-2, 0, a whole number from 1"
  })
  void otherNetworksAndLengthsAreRefused(String model, int tokens, String words) {
    Cli.plan(model, "h100:1x4", "--global-batch", "16", "--sequence", "" + tokens)
        .refusal(2, words);
    Cli.run("train", model, "--global-batch", "16", "--sequence", "" + tokens).refusal(2, words);
    Cli.run("profile", model, "--sequence", "" + tokens).refusal(2, words);
  }

  @Test
  void profilesHaveTheLengthThatWasMeasured() throws IOException {
    Path table = Files.writeString(folder.resolve("table.csv"), TABLE);
    Cli.plan(table, "h100:1x2", "--global-batch", "2", "--profile-batch", "1", "--sequence", "8")
        .refusal(2, "--sequence: ", "table.csv states its layers for samples as they are");
  }

  @Test
  void aPlanWithALengthThatIsNoneIsRefused() throws IOException {
    planned(config.toString(), 2048);
    Path file = folder.resolve("plan-2048").resolve("plan.json");
    Files.writeString(
        file, Files.readString(file).replace("\"sequence\": 2048", "\"sequence\": 0"));
    Cli.run("simulate", file.toString()).refusal(2, "plan.json", "sequence");
  }
}
