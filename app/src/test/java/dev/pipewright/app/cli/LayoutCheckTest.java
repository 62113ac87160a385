package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Megatron's layouts of pipeline stages. */
class LayoutCheckTest {
  private static Cli check(String layout, String... more) {
    List<String> args = new ArrayList<>(List.of("check", "--megatron-layout", layout));
    args.addAll(Arrays.asList(more));
    return Cli.run(args.toArray(new String[0]));
  }

  @Test
  void stagesAreATable() {
    assertEquals(
        """
          rank  chunk 0                 chunk 1
          0     embedding, decoder × 3  decoder × 2
          1–13  decoder × 2             decoder × 2
          14    decoder × 2             mtp
          15    decoder × 2             loss
        Megatron takes this layout: 61 decoder layers and 1 of multi-token prediction in 32 stages, 2 on each of 16 ranks
        """,
        check("Et*3|(tt|)*29,m|L", "--pipeline", "16", "--layers", "61", "--mtp-layers", "1")
            .ends(0)
            .out());
  }

  @Test
  void theAnswerHasStagesByRankAndChunk() {
    JsonNode answer = check("Et|t|t|tL", "--pipeline", "2", "--json").ends(0).json();
    assertEquals("true", answer.get("valid").toString());
    assertEquals(
        "[[[\"embedding\",\"decoder\"],[\"decoder\"]],[[\"decoder\"],[\"decoder\",\"loss\"]]]",
        answer.get("stages").toString());
    assertEquals("4", answer.at("/counted/decoder_layers").toString());
    assertEquals("[]", answer.get("notes").toString());
  }

  @Test
  void whatMegatronRefusesIsNotValid() {
    JsonNode answer =
        check("Et|t|t|tL", "--pipeline", "2", "--layers", "5", "--json").ends(1).json();
    assertEquals("false", answer.get("valid").toString());
    assertEquals(
        "decoder (t) occurs 4 times, expected are 5; write t as often",
        answer.at("/problems/0/message").asString());
    check("Et|tmL", "--pipeline", "2").ends(1);
    check("Et|tmL", "--pipeline", "2", "--mtp-layers", "1").ends(0);
  }

  @Test
  void emptyStagesAreTakenWithANote() {
    JsonNode answer = check("E||t|L", "--pipeline", "4", "--json").ends(0).json();
    assertEquals(1, answer.get("notes").size());
  }

  @Test
  void mistakesAreRefused() {
    check("Ex|tL", "--pipeline", "2")
        .refusal(2, "--megatron-layout: \"Ex|tL\" has the invalid layer \"x\"");
    check("EtL").refusal(2, "add --pipeline P");
    check("EtL", "--pipeline", "0").refusal(2, "--pipeline: 0 is no number of ranks; ");
    check("EtL", "--pipeline", "1", "--layers", "-1").refusal(2, "--layers: -1 is no number of");
    check("EtL", "--pipeline", "1", "--times", "1,1,1,0")
        .refusal(2, "--times: says nothing of a layout; ");
    check("EtL", "--pipeline", "1", "--model", "bert-48")
        .refusal(2, "--model: says nothing of a layout; ");
    check("EtL", "plan.json").refusal(2, "is checked instead of a file; leave out plan.json");
    Cli.run("check", "plan.json", "--layers", "3")
        .refusal(2, "--layers: is for --megatron-layout, and plan.json is a file; ");
    Cli.run("check").refusal(2, "PLAN.json is missing; write `pipewright check PLAN.json`");
  }
}
