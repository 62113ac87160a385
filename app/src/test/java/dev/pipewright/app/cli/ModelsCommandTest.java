package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** One network: of the zoo, with sizes of its own, or in a file. */
class ModelsCommandTest {
  @TempDir Path folder;

  private static JsonNode json(String... args) {
    return Cli.run(Cli.with(Cli.with(args, "--json"), "--sequence=1024")).ends(0).json();
  }

  @Test
  void aTransformerIsShownWithItsShape() {
    assertEquals(
        """
        mixtral-8x7b: Mixtral, Jiang et al. 2024
          parameters  46,702,792,704 (46.7 G)
          active      12,879,925,248 (12.9 G) for each token
          states      4,096 features, rotary positions
          words       32,000, head with a table of its own
          blocks      32 × attention of 32 heads of 128 features, 8 of keys and values; 2 of 8 experts, each a gated feed-forward part of 14,336
          arithmetic  25.8 GFLOP forward and 77.3 GFLOP for a training step, for each token of a sequence of 1,024
        """,
        Cli.run("models", "mixtral-8x7b", "--sequence", "1024")
            .ends(0)
            .out()
            .replaceFirst("(?s).*\\n\\n", ""));
  }

  @ParameterizedTest
  @CsvSource({
    "gpt-2, 124439808, 124439808",
    "bert-48, 637451264, 637451264",
    "vgg-16, 138357544, 138357544",
    "deepseek-v3, 671026419200, 37552297472",
    "llama3.1-8b, 8030261248, 8030261248",
    "'llama:layers=1,hidden=64,heads=4,kv-heads=2,ffn=128,vocabulary=10', 38336, 38336",
  })
  void theAnswerCountsParameters(String name, long parameters, long active) {
    JsonNode answer = json("models", name);
    assertEquals(name, answer.get("name").asString());
    assertEquals(parameters, answer.get("parameters").asLong());
    assertEquals(active, answer.get("active_parameters").asLong());
  }

  @Test
  void blocksNameTheirLayers() {
    JsonNode answer = json("models", "gpt-oss-20b");
    assertEquals(2, answer.get("blocks").size());
    assertEquals("[[0,0],[2,2],[4,4]", answer.at("/blocks/0/layers").toString().substring(0, 18));
    assertEquals("128", answer.at("/blocks/0/attention/window").toString());
    assertTrue(answer.at("/blocks/1/attention/window").isMissingNode());
    assertEquals("[[3,60]]", json("models", "deepseek-v3").at("/blocks/1/layers").toString());
    assertEquals("12", "" + json("models", "t5-base").at("/encoder_blocks/0/attention/heads"));
  }

  @Test
  void filesAreShownByWhatTheyAre() {
    Path config =
        Cli.file(
            folder, "config.json", "{\"model_type\": \"gpt2\", \"n_layer\": 1, \"n_head\": 2}");
    JsonNode answer = json("models", config.toString());
    assertEquals("Hugging Face config (gpt2)", answer.get("source").asString());
    assertEquals(124_439_808 - 11 * 7_087_872, answer.get("parameters").asLong());
    assertEquals(folder.getFileName().toString(), answer.get("name").asString());
    Path graph = Cli.file(folder, "small.txt", Cli.smallGraph());
    JsonNode layers = json("models", graph.toString());
    assertEquals(layers.get("parameters"), layers.get("active_parameters"));
    assertTrue(Cli.run("models", graph.toString()).ends(0).out().contains(" parameters in "));
  }

  /** A network is the same whoever describes it, also where it is planned. */
  @Test
  void everyKindOfFileIsShownAndPlanned() {
    Path script =
        Cli.file(
            folder,
            "train.sh",
            "H=64\np.py --num-layers 3 --hidden-size $H --num-attention-heads 4 --seq-length 32"
                + " --max-position-embeddings 32 --vocab-size 128\n");
    String sized = "gpt:layers=3,hidden=64,heads=4,sequence=32,vocabulary=128";
    assertEquals(
        json("models", sized).get("parameters"), json("models", script + "").get("parameters"));
    String[] more = {"--global-batch", "16", "--json"};
    assertEquals(
        Cli.plan(sized, "dapple-a:1x2", more).ends(0).json().at("/objective/value"),
        Cli.plan(script, "dapple-a:1x2", more).ends(0).json().at("/objective/value"));
    Path toml = Cli.file(folder, "t.toml", "[model]\nname = \"llama3\"\nflavor = \"8B\"\n");
    assertEquals("llama3-8B", json("models", toml + "").get("name").asString());
    Path calculon =
        Cli.file(
            folder,
            "m.json",
            "{\"hidden\": 64, \"feedforward\": 256, \"seq_size\": 32, \"attn_heads\": 4,"
                + " \"attn_size\": 16, \"num_blocks\": 3}");
    String shown = Cli.run("models", calculon + "").ends(0).out();
    assertTrue(shown.contains("149,952 (150 k)") && shown.contains("no embedding"), shown);
    Cli.plan(calculon, "dapple-a:1x2", more)
        .refusal(2, "is a Calculon model; its embedding or its head cannot be planned");
  }

  @Test
  void arithmeticIsForTheSequenceAskedFor() {
    JsonNode answer = Cli.run("models", "llama3-8b", "--json").ends(0).json();
    assertEquals(8192, answer.get("sequence").asInt());
    double more =
        answer.get("flops_per_token").asDouble()
            - json("models", "llama3-8b").get("flops_per_token").asDouble();
    assertEquals(3.0 * 32 * 2 * 2 * 4096 * (8192 - 1024) / 2, more, 1.0);
  }

  @Test
  void aWordThatNamesNoNetworkStillFilters() {
    assertEquals(
        "mixtral-8x7b",
        Cli.run("models", "Mixtral", "--json").ends(0).json().at("/models/0/name").asString());
    assertTrue(Cli.run("models", "Mixtral").ends(0).out().lines().count() == 2);
  }

  @Test
  void mistakesAreRefused() {
    Cli.run("models", "llama3-9b").refusal(2, "no model 'llama3-9b'; did you mean \"llama3-8b\"?");
    Cli.run("models", "nowhere.json").refusal(2, "nowhere.json: no such file; ");
    Cli.run("models", "llama:layers=0").refusal(2, "llama:layers=0: layers=0 makes no sense; ");
    Cli.run("models", "llama3-8b", "--sequence", "0").refusal(2, "--sequence: 0 is no length; ");
    Cli.run("models", "llama:heads=3")
        .refusal(2, "must be a multiple of the heads: hidden=4096, heads=3; ");
  }
}
