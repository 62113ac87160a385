package dev.pipewright.formats.sweep;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.Refusal;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SweepFileTest {
  private static final String GOOD =
      """
      models:
        - bert-48
        - {name: small, model: "mlp:layers=4,hidden=64", flags: --optimizer sgd}
      clusters:
        - dapple-a:1x2
        - {name: tight, cluster: dapple-b, flags: --memory 8GiB}
      batches: [8, 16]
      flags:
        - {name: plain, flags: ""}
        - --recompute full
      """;

  @TempDir Path folder;

  private List<SweepPoint> read(String text) {
    return SweepFile.read(Refusal.file(folder, "s.yaml", text));
  }

  @Test
  void theLastListVariesFastest() {
    List<SweepPoint> points = read(GOOD);
    assertEquals(16, points.size());
    assertEquals(
        List.of(
            "bert-48 on dapple-a:1x2, 8 samples",
            "bert-48 on dapple-a:1x2, 8 samples, --recompute full",
            "bert-48 on dapple-a:1x2, 16 samples",
            "bert-48 on dapple-a:1x2, 16 samples, --recompute full",
            "bert-48 on dapple-b, 8 samples, --memory 8GiB"),
        points.stream().limit(5).map(point -> point.key().toString()).toList());
    SweepPoint last = points.get(15);
    assertEquals(16, last.number());
    assertEquals(
        List.of("--optimizer", "sgd", "--memory", "8GiB", "--recompute", "full"), last.words());
    assertEquals("small", last.model().name());
    assertEquals("mlp:layers=4,hidden=64", last.model().value());
    assertEquals("tight", last.cluster().name());
    assertEquals("--recompute full", last.flags().name());
  }

  @Test
  void flagsMayBeLeftOutAndQuotesKeepBlanks() {
    List<SweepPoint> points =
        read(
            """
            models: [{model: bert-48, flags: "--schedule 'my file.csv' --stages 2"}]
            clusters: [dapple-a]
            batches: [64]
            """);
    assertEquals(1, points.size());
    assertEquals(List.of("--schedule", "my file.csv", "--stages", "2"), points.get(0).words());
  }

  @Test
  void exclusionsLeaveOutWhatAgreesWithAllTheirNames() {
    List<SweepPoint> points =
        read(
            GOOD + "exclude:\n  - {model: small, cluster: tight}\n  - {batch: 16, flags: plain}\n");
    List<Integer> left = points.stream().map(SweepPoint::number).toList();
    assertEquals(9, left.size());
    assertEquals(List.of(1, 2, 3, 4, 5, 6, 7, 8, 9), left);
    assertEquals(
        0,
        points.stream()
            .filter(point ->
                point.model().name().equals("small") && point.cluster().name().equals("tight"))
            .count());
    assertEquals(
        0,
        points.stream()
            .filter(point -> point.globalBatch() == 16 && point.flags().name().equals("plain"))
            .count());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          batches: [8, 16] | batchs: [8, 16] | 7: unknown key "batchs"; did you mean "batches"?
          batches: [8, 16] | batches: [8, 0] | 7: batches[1] is the number 0; expected a whole number >= 1
          batches: [8, 16] | batches: [8, 8] | 7: batches has two entries called "8", the first in line 7; give each a name of its own
          batches: [8, 16] | batches: [] | 7: batches is empty; a sweep needs at least one of them
          batches: [8, 16] | batches: 8 | 7: batches is the number 8; expected a list
          batches: [8, 16] | batches: [{name: a}] | 7: the key "batch" is missing in batches[0]; add it
          - bert-48 | - vgg-18 | 2: no model 'vgg-18'; did you mean "vgg-1
          - bert-48 | - 3.5 | 2: no model '3.5'
          - dapple-a:1x2 | - dapple-z:1x2 | 5: no cluster 'dapple-z:1x2'; did you mean
          - dapple-a:1x2 | - {cluster: dapple-a, size: 2} | 5: unknown key "size" in clusters[0]; known here: name, cluster, flags
          - --recompute full | - --recompute 'full | 10: flags[1] has a quote that does not end
          - --recompute full | - {name: a, model: b} | 10: unknown key "model" in flags[1]
          {name: plain, flags: ""} | {name: plain, flags: [a]} | 9: flags[0].flags is a list; expected text
          """)
  void whatIsWrongIsASentenceWithItsLine(String from, String to, String sentence) {
    Path file = Refusal.file(folder, "s.yaml", GOOD.replace(from, to));
    refused("s.yaml:" + sentence, file, SweepFile::read);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          - {model: bert} | exclude[0].model is "bert", which the sweep does not have; did you mean "bert-48"?
          - {} | exclude[0] excludes everything
          - {device: 1} | unknown key "device" in exclude[0]
          """)
  void exclusionsNameWhatThereIs(String exclusion, String sentence) {
    Path file = Refusal.file(folder, "s.yaml", GOOD + "exclude:\n  " + exclusion + "\n");
    refused("s.yaml:12: " + sentence, file, SweepFile::read);
  }

  @Test
  void aSweepOfNothingAndOfTheSameTwiceIsRefused() {
    Path none = Refusal.file(folder, "s.yaml", GOOD + "exclude: [{batch: 8}, {batch: 16}]\n");
    refused("s.yaml:11: exclude leaves no point", none, SweepFile::read);
    Path twice =
        Refusal.file(folder, "s.yaml", GOOD.replace("flags: \"\"}", "flags: --recompute full}"));
    refused("s.yaml:1: points 1 and 2 are both bert-48", twice, SweepFile::read);
  }

  private static void refused(String begins, Path file, Function<Path, ?> reader) {
    String sentence = Refusal.of(file, reader);
    assertTrue(sentence.startsWith(begins) && sentence.contains("; "), sentence);
  }
}
