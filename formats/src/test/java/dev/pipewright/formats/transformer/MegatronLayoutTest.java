package dev.pipewright.formats.transformer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.transformer.MegatronLayout.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class MegatronLayoutTest {
  /** Stages in the layout's order, written out. */
  private static String expanded(String text) {
    return MegatronLayout.parse(text, 1).stages().stream()
        .map(stage -> stage.stream().map(kind -> letter(kind)).collect(Collectors.joining()))
        .collect(Collectors.joining("|"));
  }

  private static String letter(Kind kind) {
    return switch (kind) {
      case EMBEDDING -> "E";
      case DECODER -> "t";
      case MTP -> "m";
      case LOSS -> "L";
    };
  }

  @ParameterizedTest
  @CsvSource({
    "Et*3|(tt|)*2L, Ettt|tt|tt|L",
    "'Et*1,2L', EttttttttttttL",
    "'E(t|)*3,m|mL', Et|t|t|m|mL",
    "Et|*3tL, Et|||tL",
    "Et*0|tL, E|tL",
    "(Et|L)*2, Et|LEt|L",
    "Et*٣L, EtttL",
    "E(tt)*2*2L, EtttttL",
  })
  void repetitionsAreExpandedOnce(String text, String stages) {
    assertEquals(stages, expanded(text));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "E t|tL;2;has the invalid layer \" \"",
        "((t|)*2E)*2|L;1;has the invalid layer \"(\"",
        "Et*2*2L;1;has the invalid layer \"*\"",
        "E😀L;1;has the invalid layer \"😀\"",
        "E()*3L;1;has the invalid layer \"(\"",
        "Et|t|L;2;has 3 stages, which is no multiple of the 2 pipeline ranks",
        "Et*99999999999999999999L;1;holds more than 1,048,576 layers",
        "(Et*9999|)*9999L;1;holds more than 1,048,576 layers",
      })
  void whatMegatronsParserRefusesIsBadInput(String text, int ranks, String words) {
    String said =
        String.valueOf(
            assertThrows(BadInputException.class, () -> MegatronLayout.parse(text, ranks))
                .getMessage());
    assertTrue(said.startsWith("--megatron-layout: \"") && said.contains(words), said);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "EttL;1;2;;",
        "ttL;1;2;;the first layer is decoder",
        "Ett;1;2;;the last layer is decoder",
        "EEttL;1;2;;embedding (E) occurs 2 times, expected are 1",
        "EttLL;1;2;;loss (L) occurs 2 times, expected are 1",
        "EttL;1;3;;decoder (t) occurs 2 times, expected are 3",
        "EttmL;1;2;;mtp (m) occurs 1 times, expected are 0",
        "EttL;1;2;1;mtp (m) occurs 0 times, expected are 1",
        "EtmtL;1;2;1;a decoder layer follows",
        "Et|tm|m|L;2;2;2;rank 1 has multi-token prediction in chunk 0",
        "Et|tm|mL;3;2;2;rank 1 has 1 of 2 layers",
        "|;1;0;;the layout holds no layers",
      })
  void whatItRefusesOfAReadLayoutIsNamed(
      String text, int ranks, int layers, @Nullable Integer mtp, @Nullable String problem) {
    List<String> problems =
        MegatronLayout.parse(text, ranks)
            .problems(
                OptionalInt.of(layers), mtp == null ? OptionalInt.empty() : OptionalInt.of(mtp));
    assertEquals(problem == null, problems.isEmpty(), problems.toString());
    assertTrue(problem == null || problems.toString().contains(problem), problems.toString());
  }

  @Test
  void stagesRunRoundTheRanks() {
    MegatronLayout layout = MegatronLayout.parse("Et|t|tt|L", 2);
    assertEquals(2, layout.chunks());
    assertEquals(List.of(Kind.DECODER, Kind.DECODER), layout.stage(0, 1));
    assertEquals(List.of(Kind.LOSS), layout.stage(1, 1));
    assertEquals(List.of(1, 3), MegatronLayout.parse("Et||L|", 2).empty());
  }

  /** What Megatron's own parser makes of 23 layouts. */
  @Test
  void layoutsAreThoseOfMegatronsParser() throws IOException {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(folder), "interop", "megatron", "layout-golden.json");
    assumeTrue(Files.exists(file), "no reference layouts " + file);
    JsonNode cases = JsonMapper.shared().readTree(Files.readString(file));
    assertTrue(cases.size() >= 16, "too few layouts");
    for (JsonNode each : cases) {
      String text = each.get("layout").asString();
      int ranks = each.get("pp").asInt();
      if (each.has("error")) {
        assertThrows(BadInputException.class, () -> MegatronLayout.parse(text, ranks), text);
        continue;
      }
      MegatronLayout layout = MegatronLayout.parse(text, ranks);
      assertEquals(each.get("vpp").asInt(), layout.chunks(), text);
      assertEquals(each.get("stages_pp_vpp").toString(), stages(layout), text);
      JsonNode mtp = each.get("mtp_num_layers");
      List<String> problems =
          layout.problems(
              OptionalInt.of(each.get("num_layers").asInt()),
              mtp.isNull() ? OptionalInt.empty() : OptionalInt.of(mtp.asInt()));
      assertEquals(each.get("valid").asBoolean(), problems.isEmpty(), text + problems);
    }
  }

  private static String stages(MegatronLayout layout) {
    List<String> ranks = new ArrayList<>();
    for (int rank = 0; rank < layout.ranks(); rank++) {
      List<String> chunks = new ArrayList<>();
      for (int chunk = 0; chunk < layout.chunks(); chunk++) {
        chunks.add(
            layout.stage(rank, chunk).stream()
                .map(kind -> "\"" + kind.word() + "\"")
                .collect(Collectors.joining(",", "[", "]")));
      }
      ranks.add("[" + String.join(",", chunks) + "]");
    }
    return "[" + String.join(",", ranks) + "]";
  }
}
