package dev.pipewright.app.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is refused before anything runs. The runtime's own tests run what is not. */
class CompareCommandTest {
  @TempDir private Path folder = Path.of("");

  private static final String[] SMALL = {"mlp-8x1024", "--global-batch", "8"};

  private static Cli run(String command, String... more) {
    List<String> arguments = new ArrayList<>(List.of(command));
    arguments.addAll(List.of(SMALL));
    arguments.addAll(List.of(more));
    return Cli.run(arguments.toArray(String[]::new));
  }

  @Test
  void aStretchIsForEmulatedDevices() {
    run("compare", "--cluster", "dapple-a", "--stretch", "2").refusal(2, "--stretch", "--emulate");
    run("train", "--cluster", "dapple-a", "--emulate", "--stretch", "0")
        .refusal(2, "--stretch", "above 0");
  }

  @Test
  void whatNothingIsKnownOfCannotBeExpected() {
    run("compare").refusal(2, "no cluster");
    run("train", "--emulate").refusal(2, "no cluster");
  }

  @Test
  void splitStagesAreNotEmulated() {
    run("train", "--cluster", "dapple-a", "--tensor-parallel", "filter:2", "--emulate")
        .refusal(2, "--emulate", "leave out --tensor-parallel and --spatial-parallel");
  }

  @Test
  void everyWorkerNeedsADevice() {
    run("compare", "--replicas", "8", "--cluster", "dapple-a:1x4")
        .refusal(2, "4 devices", "8 workers", "larger --cluster");
  }

  @Test
  void aProfileBelongsToItsNetwork() {
    run("compare", "--cluster", "dapple-a", "--profile", "vgg-16")
        .refusal(2, "vgg-16", "layers", "profile of this network");
  }

  @Test
  void aLayerWithoutTimesIsNamed() {
    Path profile = Cli.file(folder, "two.json", unmeasured());
    Cli.run(
            "compare",
            profile.toString(),
            "--global-batch",
            "8",
            "--cluster",
            "dapple-a",
            "--emulate")
        .refusal(2, "two.json", "no time for layer second", "pipewright profile");
  }

  /** Two layers that learn, the second without times. */
  private static String unmeasured() {
    String layer =
        """
        {"name": "%s", "operator": {"kind": "linear", "in": 2, "out": 2, "bias": false},
         "output_shape": [2], "parameters": 4, "output_elements": 2, "kept_elements": 2,
         "output_bytes": 8, "kept_bytes": 8, "parameter_bytes": 16}\
        """;
    return """
    {"format": "pipewright-profile", "version": 1, "model": "two",
     "provenance": {"source": "test", "device": "v100", "date": "", "measured": true},
     "precision": "fp32", "layers": [%s, %s], "edges": [["first", "second"]],
     "batches": [
       {"samples": 8, "forward_s": [1, 0], "backward_s": [1, 0], "update_s": [0, 0]}]}
    """
        .formatted(layer.formatted("first"), layer.formatted("second"));
  }

  @Test
  void toleranceIsAShare() {
    run("compare", "--cluster", "dapple-a", "--tolerance", "-1").refusal(2, "--tolerance", "-1");
  }
}
