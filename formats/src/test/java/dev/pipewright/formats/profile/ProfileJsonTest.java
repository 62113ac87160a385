package dev.pipewright.formats.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.model.RandomModel;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.units.Precision;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProfileJsonTest {
  private static final String GOOD =
      """
      {
        "format": "pipewright-profile",
        "version": 1,
        "model": "two",
        "provenance": {"source": "here", "device": "cpu", "date": "", "measured": true},
        "precision": "fp32",
        "training": {"optimizer": "adam", "precision": "bf16"},
        "layers": [
          {"name": "a", "operator": {"kind": "linear", "in": 2, "out": 3, "bias": true},
           "parameters": 9, "output_elements": 3, "kept_elements": 3,
           "output_bytes": 12, "kept_bytes": 12, "parameter_bytes": 36},
          {"name": "b", "operator": {"kind": "block", "name": "cell"}, "output_shape": [3, 4],
           "parameters": 0, "output_elements": 12, "kept_elements": 12,
           "work": {"forward_flop": 1, "input_gradient_flop": 2, "weight_gradient_flop": 3,
                    "forward_elements": 4},
           "output_bytes": 48, "kept_bytes": 48, "parameter_bytes": 0}
        ],
        "edges": [["a", "b"]],
        "batches": [
          {"samples": 8,
           "forward_s": [0.1, 0.2],
           "backward_s": [0.3, 0.4],
           "weight_gradient_s": [0.1, null],
           "update_s": [0, 0]}
        ]
      }
      """;

  @TempDir Path folder;

  private void refused(String expected, String from, String to) {
    assertTrue(GOOD.contains(from), from);
    Path file = Refusal.file(folder, "p.json", GOOD.replace(from, to));
    Refusal.assertRefused("p.json:" + expected, file, ProfileJson::read);
  }

  private static final String LAST = "\"update_s\": [0, 0]";
  private static final String SPLIT = ", \"split_kept_bytes\": [3, 4], \"deferred_bytes\": [5, 6]";

  @Test
  void mixedPrecisionIsHalfPrecision() {
    Path file = Refusal.file(folder, "p.json", GOOD.replace("\"bf16\"", "\"mixed\""));
    assertEquals(Precision.FP16, ProfileJson.read(file).training().orElseThrow().precision());
  }

  @Test
  void oneColumnMayStandForBothPasses() {
    String text = LAST + ", \"working_bytes\": [1, 2]" + SPLIT;
    Path file = Refusal.file(folder, "p.json", GOOD.replace(LAST, text));
    assertEquals(
        List.of(new LayerMemory(1, 1, 3, 5), new LayerMemory(2, 2, 4, 6)),
        ProfileJson.read(file).profile().memory(0));
  }

  @Test
  void whatLayersNeedIsSaidOnceOfEachPass() {
    String forward = ", \"forward_working_bytes\": [1, 2]";
    refused(
        line("update_s")
            + ": batches[0].forward_working_bytes is said by working_bytes, too, for both passes;"
            + " leave one of them out",
        LAST,
        LAST + ", \"working_bytes\": [1, 2]" + forward + SPLIT);
    refused(
        line("\"samples\": 8")
            + ": the key \"backward_working_bytes\" is missing in batches[0]; add it",
        LAST,
        LAST + forward + SPLIT);
    refused(
        line("\"samples\": 8") + ": the key \"split_kept_bytes\" is missing in batches[0]; add it",
        LAST,
        LAST + ", \"working_bytes\": [1, 2]");
  }

  @RepeatedTest(200)
  void whatIsWrittenIsReadBackEqual(RepetitionInfo seed) {
    ModelFile model = new RandomModel(seed.getCurrentRepetition()).model();
    Path file = folder.resolve("profile.json");
    ProfileJson.write(file, model);
    assertEquals(model, ProfileJson.read(file));
  }

  @Test
  void aProfileIsWrittenForPeople() {
    Path file = Refusal.file(folder, "p.json", GOOD);
    assertEquals(
        """
        {
          "format": "pipewright-profile",
          "version": 1,
          "model": "two",
          "provenance": {"source": "here", "device": "cpu", "date": "", "measured": true},
          "precision": "fp32",
          "training": {"optimizer": "adam", "precision": "bf16"},
          "layers": [
            {
              "name": "a",
              "operator": {"kind": "linear", "in": 2, "out": 3, "bias": true},
              "parameters": 9,
              "output_elements": 3,
              "kept_elements": 3,
              "output_bytes": 12.0,
              "kept_bytes": 12.0,
              "parameter_bytes": 36.0
            },
            {
              "name": "b",
              "operator": {"kind": "block", "name": "cell"},
              "output_shape": [3, 4],
              "parameters": 0,
              "output_elements": 12,
              "kept_elements": 12,
              "work": {
                "forward_flop": 1.0,
                "input_gradient_flop": 2.0,
                "weight_gradient_flop": 3.0,
                "forward_elements": 4.0
              },
              "output_bytes": 48.0,
              "kept_bytes": 48.0,
              "parameter_bytes": 0.0
            }
          ],
          "edges": [["a", "b"]],
          "batches": [
            {
              "samples": 8,
              "forward_s": [0.1, 0.2],
              "backward_s": [0.3, 0.4],
              "weight_gradient_s": [0.1, null],
              "update_s": [0.0, 0.0]
            }
          ]
        }
        """,
        ProfileJson.text(ProfileJson.read(file)));
  }

  @Test
  void unknownKeysNameThePlaceAndTheNearestKey() {
    refused("4: unknown key \"modle\"; did you mean \"model\"?", "\"model\"", "\"modle\"");
    refused(
        "19: unknown key \"update\" in batches[0]; did you mean \"update_s\"?"
            .replace("19", line("update_s")),
        "update_s",
        "update");
    refused(
        line("linear") + ": unknown key \"output\" in layers[0].operator; did you mean \"out\"?",
        "\"out\":",
        "\"output\":");
    refused(
        line("linear")
            + ": unknown key \"stride\" in layers[0].operator; known here: kind, in,"
            + " out, bias",
        "\"out\":",
        "\"stride\": 1, \"out\":");
  }

  /** The line of the good file that holds {@code text}. */
  private static String line(String text) {
    return String.valueOf(GOOD.substring(0, GOOD.indexOf(text)).lines().count());
  }

  @Test
  void missingKeysNameThePlace() {
    refused("1: the key \"edges\" is missing; add it", "\"edges\": [[\"a\", \"b\"]],", "");
    refused(
        line("linear") + ": the key \"in\" is missing in layers[0].operator; add it",
        "\"in\": 2,",
        "");
    refused(
        line("{\"name\": \"b\"") + ": the key \"kept_bytes\" is missing in layers[1]; add it",
        "\"output_bytes\": 48, \"kept_bytes\": 48",
        "\"output_bytes\": 48");
  }

  @Test
  void wrongTypesSayWhatIsExpected() {
    refused(
        line("\"a\"") + ": layers[0].name is the number 7; expected text (in quotes)",
        "\"name\": \"a\"",
        "\"name\": 7");
    refused(
        line("samples")
            + ": batches[0].samples is the text \"eight\"; expected a whole number >= 1",
        ": 8",
        ": \"eight\"");
    refused(
        line("samples") + ": batches[0].samples is the number 8.5; expected a whole number >= 1",
        ": 8",
        ": 8.5");
    refused(
        line("samples")
            + ": batches[0].samples is the number 3000000000; expected a whole number >= 1 and <="
            + " 1048576",
        ": 8",
        ": 3000000000");
    refused(
        line("output_shape") + ": layers[1].output_shape is an object; expected a list",
        "[3, 4]",
        "{}");
    refused(line("edges") + ": edges[0] is null; expected a list", "[[\"a\", \"b\"]]", "[null]");
    refused(
        line("linear") + ": layers[0].operator.bias is the text \"no\"; expected true or false",
        "true},\n   ",
        "\"no\"},\n   ");
    refused(
        line("linear")
            + ": layers[0].operator.kind is the text \"line\"; expected one of input, tokens,"
            + " convolution, linear, normalization, pooling, elementwise, concatenation, embedding,"
            + " positions, segments, class_token, mask, tied_scores, attention, lstm,"
            + " attention_lstm, residual, carried, transformer_block, shaped_block, block, recorded",
        "linear",
        "line");
    refused(
        line("precision")
            + ": precision is the text \"fp8\"; expected one of fp32, tf32, fp16, bf16, mixed",
        "\"fp32\"",
        "\"fp8\"");
  }

  @Test
  void numbersOutOfRangeAreRefused() {
    refused(
        line("backward_s")
            + ": batches[0].backward_s[1] is the number -0.4; expected 0 or 1e-18 to 1e9 seconds",
        "0.4",
        "-0.4");
    refused(
        line("backward_s")
            + ": batches[0].backward_s[1] is the number 1e999; expected 0 or 1e-18 to 1e9 seconds",
        "0.4",
        "1e999");
    refused(
        line("backward_s")
            + ": the weight gradient is a part of the backward pass: weight_gradient=0.1,"
            + " backward=0.03",
        "0.3,",
        "0.03,");
  }

  @Test
  void aPartOfABackwardPassIsMissed() {
    refused(
        line("backward_s")
            + ": an input gradient by itself is a part without the other: give the weight"
            + " gradient, too",
        "\"weight_gradient_s\": [0.1, null]",
        "\"input_gradient_s\": [0.1, 0.1], \"weight_gradient_s\": [0.1, null]");
  }

  @Test
  void layersAndEdgesMustFit() {
    refused(
        line("{\"name\": \"b\"") + ": two layers are called \"a\"; give each a name of its own",
        "\"name\": \"b\"",
        "\"name\": \"a\"");
    refused(
        line("edges") + ": edges[0][1] names \"c\", which is no layer; use the name of a layer",
        "[\"a\", \"b\"]",
        "[\"a\", \"c\"]");
    refused(
        line("edges") + ": edges[0] names 1 layers; an edge reads [\"from\", \"to\"]",
        "[\"a\", \"b\"]",
        "[\"a\"]");
    refused(
        line("edges") + ": edges[0] leads from a layer to itself; remove it",
        "[\"a\", \"b\"]",
        "[\"a\", \"a\"]");
    refused(
        line("edges") + ": edges[1] repeats an edge; keep one",
        "[\"a\", \"b\"]",
        "[\"a\", \"b\"], [\"a\", \"b\"]");
    refused(
        line("edges") + ": the edges form a cycle b → a → b; remove the edge that leads back",
        "[[\"a\", \"b\"]]",
        "[[\"b\", \"a\"], [\"a\", \"b\"]]");
    refused(
        line("{\"name\": \"b\"")
            + ": b is not connected to the rest of the network; add the missing edges, the file"
            + " may be cut off",
        "[[\"a\", \"b\"]]",
        "[]");
    refused(
        line("forward_s")
            + ": batches[0].forward_s holds 1 numbers; expected one for each of the 2 layers",
        "[0.1, 0.2]",
        "[0.1]");
  }

  @Test
  void otherFormatsAndNewerVersionsAreRefused() {
    refused(
        "2: the file's format is not pipewright-profile; expected \"format\":"
            + " \"pipewright-profile\"",
        "pipewright-profile",
        "pipewright-plan");
    refused(
        "3: version 2 of pipewright-profile is newer than this program; update the program or"
            + " write version 1",
        "\"version\": 1",
        "\"version\": 2");
  }

  @Test
  void aKeyThatStandsTwiceIsRefused() {
    refused(
        "5: the key \"model\" stands twice, first in line 4; keep one",
        "\"two\",",
        "\"two\",\n\"model\": \"three\",");
  }

  @Test
  void brokenJsonIsRefusedInASentence() {
    Stream.of(
            "{\"format\": ",
            "{\"a\": [tru]}",
            "{} {}",
            "[1, 2]",
            "\"",
            "{\"a\": 01}",
            "{'a': 1}",
            "")
        .forEach(text -> {
          Path file = Refusal.file(folder, "p.json", text);
          String message = Refusal.of(file, ProfileJson::read);
          assertTrue(message.matches("p\\.json:1:(\\d+:)? .*"), message);
        });
    for (int end = 0; end < GOOD.length() - 2; end += 7) {
      Refusal.of(Refusal.file(folder, "p.json", GOOD.substring(0, end)), ProfileJson::read);
    }
  }

  @Test
  void deepNestingIsRefused() {
    Path file = Refusal.file(folder, "p.json", "{\"a\":" + "[".repeat(100_000));
    assertEquals(
        "p.json:1:506: lists and objects nest more than 500 deep; flatten them",
        Refusal.of(file, ProfileJson::read));
  }
}
