package dev.pipewright.app.cli;

import static dev.pipewright.app.cli.PredictCommandTest.NET;
import static dev.pipewright.app.cli.PredictCommandTest.predicted;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A sentence for every mistake that {@code predict} meets. */
class PredictRefusalsTest {
  @TempDir Path folder;
  private Path net = Path.of("");
  private Path cluster = Path.of("");

  @BeforeEach
  void files() {
    net = Cli.file(folder, "tiny.net", NET);
    cluster = Cli.file(folder, "small.yaml", Cli.cluster());
  }

  private Cli tiny(String... more) {
    return predicted(net, cluster, more);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "--strategies filtre | --strategies: unknown 'filtre'; did you mean \"filter\"?",
        "--strategies data,,serial | --strategies: unknown ''; one of serial, data,",
        "--strategies data,al | --strategies: unknown 'al'; did you mean \"all\"?",
        "--devices 0 | --devices: '0' is no count; give whole numbers >= 1",
        "--devices -2 | --devices: '-2' is no count;",
        "--devices four | --devices: 'four' is no count;",
        "--devices 2,,4 | --devices: '' is no count;",
        "--devices 99999999999 | --devices: 99999999999 is too many; give at most 1048576",
        "--devices 5 | --devices: 5 are more than the cluster small has; give at most 4 or",
        "--batch-per-device 4 --global-batch 8 | --batch-per-device and --global-batch exclude",
        "--global-batch 0 | --global-batch: 0 is too few; give a whole number >= 1",
        "--batch-per-device 0 | --batch-per-device: 0 is too few;",
        "--batch-per-device -7 | --batch-per-device: -7 is too few;",
        "--batch-per-device many | --batch-per-device: 'many' is not a whole number;",
        "--samples 0 | --samples: 0 is too few;",
        "--formulas publish | --formulas: unknown 'publish'; did you mean \"published\"?",
        "--all-reduce rings | --all-reduce: unknown 'rings'; did you mean \"ring\"?",
        "--memory-reuse 0 | --memory-reuse: '0' is no factor; give a number from 1e-9 to 1e9",
        "--memory-reuse -1 | --memory-reuse: '-1' is no factor;",
        "--memory-reuse NaN | --memory-reuse: 'NaN' is no factor;",
        "--memory-reuse Infinity | --memory-reuse: 'Infinity' is no factor;",
        "--memory-reuse half | --memory-reuse: 'half' is no factor;",
        "--group 0 | --group: 0 is too few;",
        "--group -1 | --group: -1 is too few;",
        "--segments 0 | --segments: 0 is too few;",
        "--split-layers nope.lc | nope.lc: no such file;",
        "--strategy data | unknown option '--strategy'; did you mean \"--strategies\"?",
        "--memory lots | --memory: 'lots' is no amount of memory;"
      })
  void aMistypedOptionIsAnsweredWith(String options, String sentence) {
    tiny(options.split(" ", -1)).refusal(2, sentence);
  }

  @Test
  void anEmptyListIsRefused() {
    tiny("--strategies", "").refusal(2, "--strategies: unknown ''; one of serial,");
    tiny("--devices", "").refusal(2, "--devices: '' is no count;");
  }

  @Test
  void modelsAndClustersThatAreNotThereAreNamed() {
    predicted("resnet-51", cluster).refusal(2, "no model 'resnet-51'; did you mean");
    predicted(net, "abcj").refusal(2, "no cluster 'abcj'; did you mean \"abci\"?");
    Cli.run("predict", net.toString()).refusal(2, "no cluster given; add --cluster");
    Cli.run("predict", "--cluster", "abci").refusal(2, "MODEL is missing;");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "CONV1|1\\nRELU|0\\nCONV2|1; bad.lc:3: ",
        "CONV1|1\\nRELU|0\\nCONV2|1\\nFC|1\\nFC2|1; bad.lc:5: ",
        "CONV1|1\\nRELU|0\\nCONV3|1\\nFC|1; bad.lc:3: ",
        "CONV1|1\\nRELU|2\\nCONV2|1\\nFC|1; bad.lc:2: "
      })
  void switchesThatDoNotMatchTheNetworkAreRefused(String text, String place) {
    Path bad = Cli.file(folder, "bad.lc", text.replace("\\n", "\n"));
    tiny("--split-layers", bad.toString()).refusal(2, place);
  }

  @ParameterizedTest
  @CsvSource({
    "CONV2|8x14x14, CONV2|8x15x14, bad.net:6: ", // does not chain
    "16x10x12x12, 16x10x13x13, bad.net:7: ", // a kernel beyond its input
    "8x14x14|0.001, 8x14x14|-0.001, bad.net:4: ",
    "8x14x14|0.001, 8x14x14|NaN, bad.net:4: ",
    "3x8x3x3, 4x8x3x3, bad.net:4: ",
    "Input|1000x3x16x16, Input|0x3x16x16, bad.net:2: ",
    "Model|TinyNet, Modell|TinyNet, bad.net:3: "
  })
  void aNetworkThatMakesNoSenseIsRefusedAtItsLine(String good, String bad, String place) {
    assertTrue(NET.contains(good));
    Path file = Cli.file(folder, "bad.net", NET.replace(good, bad));
    predicted(file, cluster).refusal(2, place);
  }

  @ParameterizedTest
  @CsvSource({
    "bytes_per_s: 2e10, bytes_per_s: 0, bad.yaml:8: ",
    "latency_s: 1e-5, latency_s: -1e-5, bad.yaml:8: ",
    "bytes_per_s: 1e9, bytes_per_s: fast, bad.yaml:12: ",
    "fp32_flops: 1e13, fp32_flops: 0, bad.yaml:5: "
  })
  void aClusterThatMakesNoSenseIsRefusedAtItsLine(String good, String bad, String place) {
    assertTrue(Cli.cluster().contains(good));
    Path file = Cli.file(folder, "bad.yaml", Cli.cluster().replace(good, bad));
    predicted(net, file).refusal(2, place);
  }
}
