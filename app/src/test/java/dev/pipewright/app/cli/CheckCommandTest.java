package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

class CheckCommandTest {
  private static final String DEADLOCK = "0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n";

  @TempDir Path folder;

  private Cli check(String name, String text, String... more) {
    List<String> args = new ArrayList<>(List.of("check"));
    args.add(Cli.file(folder, name, text).toString());
    args.addAll(Arrays.asList(more));
    return Cli.run(args.toArray(new String[0]));
  }

  private String said(Cli run) {
    return run.out().replace(folder + java.io.File.separator, "");
  }

  @Test
  void aDeadlockIsSpeltOut() {
    assertEquals(
        "s.csv:1:5: rank 0 waits for ever before B0 of stage 0: it needs B0 of stage 1, which rank"
            + " 1 runs after F1 of stage 1; that needs F1 of stage 0, which rank 0 runs after B0 of"
            + " stage 0\n",
        said(check("s.csv", DEADLOCK).ends(1)));
  }

  @Test
  void theAnswerHasEveryPlace() {
    JsonNode answer = check("s.csv", DEADLOCK, "--json").ends(1).json();
    assertEquals("false", answer.get("valid").toString());
    JsonNode problem = answer.at("/problems/0");
    assertEquals("deadlock", problem.get("what").asString());
    assertEquals(folder.resolve("s.csv").toString(), problem.get("file").asString());
    assertEquals("1,5", problem.get("line") + "," + problem.get("column"));
    assertEquals(
        "0,0,0",
        problem.get("rank") + "," + problem.get("stage") + "," + problem.get("micro_batch"));
    assertTrue(problem.get("message").asString().startsWith("rank 0 waits for ever"));
    assertEquals(2, problem.get("ring").size());
    JsonNode missing = check("m.csv", "0F0\n1F0,1B0\n", "--json").ends(1).json();
    assertEquals("missing", missing.at("/problems/0/what").asString());
    assertTrue(missing.at("/problems/0/column").isNull());
    JsonNode fine = check("f.csv", "0F0,0B0\n1F0,1B0\n", "--json").ends(0).json();
    assertEquals(
        "{\"valid\":true,\"problems\":[],\"counted\":"
            + "{\"ranks\":2,\"stages\":2,\"micro_batches\":1,\"ops\":4},\"sends\":\"buffered\"}",
        fine.toString());
  }

  @Test
  void memoryOverTheCapHasItsMomentAndItsOp() {
    String csv = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n";
    check("s.csv", csv, "--memory-cap", "2").ends(0);
    assertEquals(
        "s.csv:1:5: rank 0 holds 2 activations at 1.0 s, the cap is 1, from F1 of stage 0 on; raise"
            + " the cap to 2, the most it ever holds, or run a backward pass first\n",
        said(check("s.csv", csv, "--memory-cap", "1").ends(1)));
    String slow = said(check("s.csv", csv, "--memory-cap", "1", "--times", "3,1,1,0").ends(1));
    assertTrue(slow.contains(" at 3.0 s,"), slow);
  }

  private String json(String... schedule) {
    return Cli.run(schedule).ends(0).out();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gpipe",
        "1f1b",
        "1f1b-b",
        "interleaved",
        "interleaved-zb",
        "looped-bfs",
        "1f1b-v",
        "zb-h1",
        "zb-h2",
        "zb-auto",
        "zb-v",
        "v-half",
        "v-min",
        "dualpipe",
        "dualpipev",
        "chimera",
        "hanayo"
      })
  void whatScheduleSaysCanRun(String name) {
    String text = json("schedule", name, "--stages", "4", "--micro-batches", "8", "--json");
    String said = said(check("s.json", text).ends(0));
    assertTrue(
        said.matches("s.json: can run: 4 ranks, [48] stages, 8 micro-batches, \\d+ ops\n"), said);
  }

  @Test
  void theCapOfTheFileCounts() {
    String text =
        json(
            "schedule",
            "zb-auto",
            "--stages",
            "2",
            "--micro-batches",
            "4",
            "--memory-cap",
            "3",
            "--json");
    check("s.json", text).ends(0);
    check("s.json", text.replace("\"memory_cap\": 3.0", "\"memory_cap\": 1.0")).ends(1);
    check("s.json", text.replace("\"memory_cap\": 3.0", "\"memory_cap\": 1.0"), "--memory-cap", "3")
        .ends(0);
  }

  @Test
  void recordedTimesAreChecked() {
    String text = json("schedule", "1f1b", "--stages", "2", "--micro-batches", "2", "--json");
    String early = text.replace("[\"F\", 0, 1, 1.0, 2.0]", "[\"F\", 0, 1, 0.25, 2.0]");
    String said = said(check("s.json", early).ends(1));
    assertTrue(
        said.matches(
            "(?s)s.json:\\d+:\\d+: rank 1 starts F0 of stage 1 at 0.25 s, but F0 of stage 0 on rank 0,"
                + " which it needs, ends at 1.0 s\n"),
        said);
    assertEquals(
        "early", check("s.json", early, "--json").ends(1).json().at("/problems/0/what").asString());
  }

  private Cli plan(String text, String... more) {
    List<String> args = new ArrayList<>();
    args.add("--model");
    args.add(Cli.file(folder, "model.txt", Cli.smallGraph()).toString());
    args.addAll(List.of("--profile-batch", "2", "--cluster"));
    args.add(Cli.file(folder, "cluster.yaml", Cli.cluster()).toString());
    args.addAll(Arrays.asList(more));
    return check("plan.json", text, args.toArray(new String[0]));
  }

  @Test
  void aPlansMemoryHasItsDeviceAndItsTime() {
    plan(Cli.plan()).ends(0);
    String said = said(plan(Cli.plan(), "--memory", "60MB").ends(1));
    assertTrue(said.startsWith("plan.json:6:5: stage 0 needs "), said);
    assertTrue(
        said.contains(" on device 0 of 57.2 MiB, too much from 0 s of the step on, most at "),
        said);
    JsonNode answer = plan(Cli.plan(), "--memory", "60MB", "--json").ends(1).json();
    assertEquals("memory", answer.at("/problems/0/what").asString());
    assertEquals("6", answer.at("/problems/0/line").toString());
  }

  @Test
  void aPlansDeadlockAndMisfitsStandAtTheirStage() {
    String stuck =
        Cli.plan()
            .replace("\"devices\": [0]", "\"devices\": [0], \"in_flight\": 1")
            .replace("\"devices\": [1]", "\"devices\": [1], \"in_flight\": 3");
    String deadlock = said(plan(stuck).ends(1));
    assertTrue(
        deadlock.startsWith("plan.json:6:5: rank 0 waits for ever before B0 of stage 0: "),
        deadlock);
    String misfit = said(plan(Cli.plan().replace("[1]", "[4]")).ends(1));
    assertTrue(misfit.startsWith("plan.json:7:5: stages[1].devices names 4"), misfit);
  }

  @Test
  void whatCannotBeCheckedIsRefusedInASentence() {
    check("s.csv", "0F0,0Q0\n").refusal(2, "s.csv:1:5: unknown action 'Q' in '0Q0'; one of ");
    check("s.csv", "").refusal(2, "s.csv:1: holds no action; ");
    check("s.csv", "\0\1\2").refusal(2, "s.csv:1: is not a schedule; ");
    check("s.json", "").refusal(2, "s.json:1: the file is empty; ");
    check("s.json", "\0\1\2").refusal(2, "s.json:1: ");
    check("s.json", "{\"ranks\": [[3]]}").refusal(2, "s.json:1:13: 3 is no op; ");
    for (String neither : List.of("{}", "{\"a\": 1}", "[1, 2]", "milk and bread", "3")) {
      check("s.json", neither).refusal(2, "s.json:1: is neither a plan nor a schedule; ");
    }
    check("s.json", "{\"plan\": ")
        .refusal(2, "s.json:1:10: the file ends inside plan; write it again");
    check("s.json", "{\"ranks\": [[[\"F\", 0, ")
        .refusal(2, "s.json:1:22: the file ends inside ranks[0][0][2]; write");
  }

  @Test
  void capsAndTimesThatAreNoneAreRefused() {
    for (String cap : List.of("-1", "0.5")) {
      check("s.csv", "0F0,0B0\n", "--memory-cap", cap)
          .refusal(2, "--memory-cap: '" + cap + "' holds not even one micro-batch; ");
    }
    for (String cap : List.of("NaN", "many", "", "2:")) {
      check("s.csv", "0F0,0B0\n", "--memory-cap", cap)
          .refusal(2, "--memory-cap: '" + cap.replace("2:", "") + "' is no number; ");
    }
    check("s.csv", "0F0,0B0\n", "--times", "1,2").refusal(2, "--times: '1,2' holds 2 values; ");
    check("s.csv", "0F0,0B0\n", "--times", "1,1,1:1,0").refusal(2, "--times: W=1:1 holds 2 values");
    check("s.csv", "0F0,0B0\n", "--times", "1,1,1,0")
        .refusal(2, "--times: are for when a rank passes");
    check("s.csv", "0F0,0B0\n", "--memory-cap", "2:1")
        .refusal(2, "--memory-cap: '2:1' holds 2 numbers for 1 ranks; give one, or one per rank");
    plan(Cli.plan(), "--memory-cap", "3").refusal(2, "--memory-cap: is for schedules");
    plan(Cli.plan(), "--times", "1,1,1,0").refusal(2, "--times: is for schedules");
  }

  @Test
  void whatIsForPlansIsRefusedForSchedules() {
    for (String option :
        List.of("--model", "--cost-model", "--cluster", "--model-format", "--memory")) {
      check("s.csv", "0F0,0B0\n", option, "x")
          .refusal(2, option + ": is for plans, and ", "s.csv is a schedule; leave it out");
    }
    String text = json("schedule", "1f1b", "--stages", "2", "--micro-batches", "2", "--json");
    check("s.json", text, "--profile-batch", "2").refusal(2, "--profile-batch: is for plans, and ");
  }

  @Test
  void everyRankMayHaveACapOfItsOwn() {
    String csv = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n";
    check("s.csv", csv, "--memory-cap", "2:1").ends(0);
    String said = said(check("s.csv", csv, "--memory-cap", "1:2").ends(1));
    assertTrue(
        said.startsWith("s.csv:1:5: rank 0 holds 2 activations at 1.0 s, the cap is 1,"), said);
    String text = json("schedule", "1f1b", "--stages", "2", "--micro-batches", "2", "--json");
    String capped = text.replace("\"ranks\"", "\"memory_cap\": [2, 1], \"ranks\"");
    check("s.json", capped).ends(0);
    check("s.json", capped.replace("[2, 1],", "[1, 1],")).ends(1);
  }

  @Test
  void whatWasCountedIsSaid() {
    assertEquals(
        "s.csv: can run: 1 rank, 1 stage, 1 micro-batch, 2 ops\n",
        said(check("s.csv", "0F0,0B0\n").ends(0)));
    String said = said(plan(Cli.plan()).ends(0));
    assertTrue(said.contains("2 ranks, 2 stages, 8 micro-batches, 32 ops\n"), said);
  }

  @Test
  void figuresThatTheOpsContradictAreFound() {
    String text = json("schedule", "1f1b", "--stages", "2", "--micro-batches", "2", "--json");
    String wrong = text.replace("\"makespan\": 9.0", "\"makespan\": 8.0");
    assertEquals(
        "s.json:6:15: makespan is 8, but the ops give 9\n", said(check("s.json", wrong).ends(1)));
    JsonNode problem = check("s.json", wrong, "--json").ends(1).json().at("/problems/0");
    assertEquals("figure,6", problem.get("what").asString() + "," + problem.get("line"));
  }

  @Test
  void aScheduleThatCommunicationSlowedSaysBySoMuch() {
    String[] slowed = {"--times", "1,1,1,0.3", "--slowdown", "1.3", "--json"};
    String text = Cli.schedule("1f1b", 4, 8, slowed).ends(0).out();
    assertTrue(text.contains("\"stretched_share\": 0.0"), text);
    check("s.json", text).ends(0);
    check("s.json", text.replaceFirst("\"stretched_share\": \\S+", "")).ends(1);
  }

  /** A named pipe, whose writer writes once. */
  @Test
  @DisabledOnOs(OS.WINDOWS)
  void pipesAreReadOnce() throws IOException, InterruptedException {
    String text = json("schedule", "1f1b", "--stages", "2", "--micro-batches", "2", "--json");
    for (String written : List.of(text, "0F0,0B0\n", Cli.plan())) {
      Path pipe = folder.resolve("pipe" + written.length());
      assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
      Thread writer = new Thread(() -> writeTo(pipe, written));
      writer.start();
      Cli run = Cli.run("check", pipe.toString());
      writer.join();
      if (written.equals(Cli.plan())) {
        run.refusal(2, "does not say its model; add --model");
      } else {
        assertTrue(run.ends(0).out().contains(": can run: "), run.out());
      }
    }
  }

  private static void writeTo(Path pipe, String text) {
    try (OutputStream out = Files.newOutputStream(pipe)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String stages(String... layersAndDevices) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < layersAndDevices.length; i += 2) {
      text.append(i == 0 ? "" : ",\n")
          .append(
              "{\"layers\":[%s],\"devices\":[%s]}"
                  .formatted(layersAndDevices[i], layersAndDevices[i + 1]));
    }
    return text.toString();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("plansThatCannotBe")
  void aPlanWhosePartsDoNotGoTogetherIsNotValid(String words, String plan) {
    Cli run = check("plan.json", plan, "--json").ends(1);
    assertEquals("false", run.json().get("valid").toString());
    assertEquals("unsound", run.json().at("/problems/0/what").asString());
    String message = run.json().at("/problems/0/message").asString();
    assertTrue(message.contains(words), message);
    assertTrue(run.json().at("/problems/0/line").asInt() > 0);
    assertTrue(said(check("plan.json", plan).ends(1)).startsWith("plan.json:"));
    Cli.run("simulate", folder.resolve("plan.json").toString()).ends(2);
  }

  static Stream<Arguments> plansThatCannotBe() {
    String head = "{\"schedule\":\"1f1b\",\"micro_batches\":4,\"micro_batch\":1,";
    String gap = stages("0,2", "0", "3,5", "1", "8,9", "2");
    String asyncPipeline = "{\"schedule\":\"pipedream-2bw\",\"micro_batches\":4,\"micro_batch\":1,";
    String shared = head.replace("1f1b", "gpipe") + "\"stages\":[%s]}";
    return Stream.of(
        arguments("no stage has layers 6 to 7", head + "\"stages\":[%s]}".formatted(gap)),
        arguments("no stage has layers 6 to 7", asyncPipeline + "\"stages\":[%s]}".formatted(gap)),
        arguments(
            "no stage has layer 0",
            head + "\"stages\":[%s]}".formatted(stages("1,2", "0", "3,5", "1"))),
        arguments(
            "two stages have layers 2 to 3",
            head + "\"stages\":[%s]}".formatted(stages("0,3", "0", "2,5", "1"))),
        arguments(
            "device 0 serves two stages",
            head + "\"stages\":[%s]}".formatted(stages("0,2", "0", "3,5", "0"))),
        arguments(
            "stages of one rank divide layers alike: stage=2, parallelism=sequence:2; take tensor:2",
            head.replace("1f1b", "interleaved")
                + "\"stages\":[{\"layers\":[0,1],\"devices\":[0,1],\"parallelism\":\"tensor:2\"},"
                + "{\"layers\":[2,3],\"devices\":[2]},"
                + "{\"layers\":[4,5],\"devices\":[0,1],\"parallelism\":\"sequence:2\"},"
                + "{\"layers\":[6,7],\"devices\":[2]}]}"),
        arguments(
            "names a device twice",
            head + "\"stages\":[%s]}".formatted(stages("0,2", "0,0", "3,5", "1"))),
        arguments(
            "runs from its first layer to its last",
            head + "\"stages\":[%s]}".formatted(stages("2,0", "0", "3,5", "1"))),
        arguments(
            "same share of a stage",
            head + "\"replicas\":2,\"stages\":[%s]}".formatted(stages("0,2", "0", "3,5", "1"))),
        arguments(
            "holds all micro-batches at once",
            shared.formatted("{\"layers\":[0,2],\"devices\":[0],\"in_flight\":2}")),
        arguments(
            "exceeds micro_batches=4",
            head + "\"stages\":[{\"layers\":[0,2],\"devices\":[0],\"in_flight\":5}]}"),
        arguments(
            "layers to compute again are in order",
            head
                + "\"stages\":[{\"layers\":[0,2],\"devices\":[0],\"recompute\":\"selective\",\"recomputed\":[[2,4]]}]}"));
  }

  @Test
  void aPlanThatIsNoPlanIsRefused() {
    String plan =
        "{\"schedule\":\"1f1b\",\"micro_batches\":0,\"micro_batch\":1,\"stages\":[%s]}"
            .formatted(stages("0,2", "0"));
    check("plan.json", plan, "--json").refusal(2, "micro_batches");
  }
}
