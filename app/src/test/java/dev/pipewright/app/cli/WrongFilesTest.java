package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Names that no file can have, and files of another kind than the command reads: a sentence. */
class WrongFilesTest {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "check NUL",
        "check NUL.csv",
        "simulate NUL",
        "calibrate NUL --cluster dapple-a",
        "cyclic-memory NUL",
        "schedule NUL",
        "schedule 1f1b --stages 2 --micro-batches 4 --beside NUL",
        "schedule 1f1b --stages 2 --micro-batches 4 --csv NUL",
        "plan NUL --cluster dapple-a --global-batch 4",
        "plan bert-48 --cluster NUL --global-batch 4",
        "plan bert-48 --cluster dapple-a --global-batch 64 --evaluate NUL",
        "plan bert-48 --cluster dapple-a --global-batch 64 --out NUL",
        "predict NUL --cluster dapple-a",
        "train NUL --global-batch 4",
        "train NUL.json --global-batch 4",
        "profile NUL",
        "compare NUL --global-batch 4 --cluster dapple-a",
        "clusters NUL",
        "models NUL",
        "join NUL",
      })
  void aNulInANameIsOneSentence(String line) {
    Cli.run(line.replace("NUL", "a\0b").split(" ")).refusal(2, "a\\u0000b");
  }

  @Test
  void anUnknownCommandIsOneSentenceWhateverFollows() {
    assertEquals(
        "unknown command 'convert'; `pipewright --help` lists what there is",
        Cli.run("convert", "plan.json", "--to", "megatron").refusal(2));
    assertEquals(
        "unknown command 'exprot'; did you mean \"export\"?",
        Cli.run("exprot", "plan.json", "--to", "megatron").refusal(2));
  }

  @ParameterizedTest
  @CsvSource({
    "plan FILE.json --cluster dapple-a --global-batch 4, UTF-32BE",
    "plan FILE.json --cluster dapple-a --global-batch 4, UTF-16LE",
    "plan bert-48 --cluster FILE.yaml --global-batch 64, UTF-16BE",
    "plan bert-48 --cluster FILE.yaml --global-batch 64, UTF-32BE",
    "check FILE.json, UTF-32BE",
    "check FILE.csv, UTF-16BE",
  })
  void aFileInAnotherEncodingIsRefusedInItsFirstLine(String line, String encoding) {
    String name = line.contains(".yaml") ? "x.yaml" : line.contains(".csv") ? "x.csv" : "x.json";
    byte[] bytes = "{\"model\": 1}!".getBytes(Charset.forName(encoding));
    byte[] damaged = Arrays.copyOf(bytes, bytes.length - 1);
    Path file = Cli.file(folder, name, damaged);
    Cli.run(line.replaceFirst("FILE\\.[a-z]+", file.toString()).split(" ")).refusal(2, file + ":1");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "profile nowhere.json | nowhere.json: no such file; give the path of a model file",
        "profile nowhere | no model 'nowhere'; give a file or a name that `pipewright models` lists",
        "train mlp:layers=3,hidden=16 --global-batch 4 --learning-rate -1 | --learning-rate: -1.0 is no length of a step; give a number above 0, like 0.01",
        "train mlp:layers=3,hidden=16 --global-batch 4 --momentum 2 | --momentum: 2.0 is no share below 1; give a number from 0 on, like 0.9",
        "train mlp:layers=3,hidden=16 --global-batch 4 --weight-decay -1 | --weight-decay: -1.0 is negative; give a number from 0 on, like 1e-4",
      })
  void aWrongValueIsNamedWithItsFlagAndARemedy(String line, String sentence) {
    assertEquals(sentence, Cli.run(line.split(" ")).refusal(2));
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void aFolderThatTheSystemRefusesWithoutAReasonIsOneSentence() {
    assertEquals(
        "--out: /proc/x cannot be written; check the path, its permissions and free space",
        Cli.plan("bert-48", "dapple-a", "--global-batch", "64", "--out", "/proc/x").refusal(2));
  }

  private static String workload(String processor, String accelerator) {
    String node =
        "{\"id\": %d, \"supportedOnFpga\": 1, \"cpuLatency\": %s, \"fpgaLatency\": %s, \"isBackwardNode\": 0}";
    return """
    {"maxFPGAs": 2, "maxCPUs": 1, "maxSizePerFPGA": 10,
     "nodes": [%s,
               %s],
     "edges": [{"sourceId": 0, "destId": 1, "cost": 0}]}
    """
        .formatted(
            node.formatted(0, processor, accelerator), node.formatted(1, processor, accelerator));
  }

  @Test
  void aWorkloadWithoutAnyTimeIsRefused() {
    Path file = Cli.file(folder, "idle.json", workload("0", "0"));
    assertEquals(
        file
            + ":2: no node takes any time, so nothing can be placed; give cpuLatency and"
            + " fpgaLatency as measured",
        Cli.run("plan", file.toString(), "--planner", "placement").refusal(2));
  }

  @Test
  void aPlacementThatTakesNoTimeIsComparedWithoutShares() {
    Path file = Cli.file(folder, "free.json", workload("0", "1"));
    Cli answer = Cli.run("plan", file.toString(), "--planner", "placement").ends(0);
    assertFalse(answer.out().contains("NaN") || answer.out().contains("Infinity"), answer.out());
  }
}
