package dev.pipewright.formats;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.model.RandomModel;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.FixedOrder;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.OneForwardOneBackwardV;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Precision;
import dev.pipewright.units.Range;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PlanJsonTest {
  private static final Parallelism[] DIVIDED = {
    Parallelism.of(Kind.TENSOR, 2),
    Parallelism.of(Kind.FILTER, 2),
    new Parallelism(Kind.SPATIAL, List.of(1, 2))
  };

  private static final String GOOD =
      """
      {"model": "bert-48", "cluster": "dapple-a", "cost_model": "dapple", "global_batch": 64,
       "profile_batch": 2,
       "plan": {
         "schedule": "1f1b", "micro_batches": 32, "micro_batch": 2,
         "stages": [
           {"layers": [0, 8], "devices": [0, 1], "forward_s": 0.1, "memory_bytes": 5},
           {"layers": [9, 20], "devices": [2, 3], "recompute": "stage-input"}
         ]}}
      """;

  @TempDir Path folder;

  private PlanFile<PipelinePlan> read(String text) {
    return PlanJson.read(Refusal.file(folder, "plan.json", text));
  }

  private void refused(String expected, String from, String to) {
    assertTrue(GOOD.contains(from), from);
    Path file = Refusal.file(folder, "plan.json", GOOD.replace(from, to));
    Refusal.assertRefused("plan.json:" + expected, file, PlanJson::read);
  }

  /** All but the figures, which a reader of plans counts. */
  private static void assertSame(PlanFile<PipelinePlan> expected, PlanFile<PipelinePlan> found) {
    assertEquals(expected.plan(), found.plan());
    assertEquals(expected.madeFor(), found.madeFor());
    assertEquals(expected.costModel(), found.costModel());
  }

  @Test
  void aPlanInsideAnAnswerIsReadWithWhatItWasMadeFor() {
    PipelinePlan plan =
        new PipelinePlan(
            PipelinePolicy.A,
            32,
            2,
            1,
            false,
            List.of(
                new StagePlan(0, 8, List.of(0, 1), Recompute.NONE, 2),
                new StagePlan(9, 20, List.of(2, 3), Recompute.STAGE_INPUT, 1)));
    MadeFor madeFor =
        new MadeFor(
            Optional.of("bert-48"),
            Optional.of("dapple-a"),
            OptionalLong.of(64),
            OptionalInt.of(2),
            OptionalInt.empty(),
            Optional.empty(),
            GivenMemory.NONE);
    assertSame(new PlanFile<>(plan, madeFor, Optional.of("dapple")), read(GOOD));
  }

  @Test
  void aPlanMayStandAlone() {
    PlanFile<PipelinePlan> file =
        read(
            """
            {"schedule": "1f1b", "replicas": 1, "micro_batch": 2, "micro_batches": 32,
             "cluster": "abci", "stages": [{"layers": [0, 8], "devices": [0]}]}
            """);
    assertEquals(9, file.plan().layers());
    assertEquals(Optional.of("abci"), file.madeFor().cluster());
    assertEquals(Optional.empty(), file.madeFor().model());
  }

  private static String divided(String keys) {
    return """
    {"schedule": "1f1b", "micro_batch": 4, "micro_batches": 2,
     "stages": [{"layers": [0, 8], "devices": [0, 1, 2, 3], %s}]}
    """
        .formatted(keys);
  }

  /** Version 1 gave degrees without what is divided. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"kind\": \"data+tensor\", \"data\": 2, \"tensor\": 2",
        "\"tensor\": 2",
        "\"parallelism\": \"tensor:2\""
      })
  void degreesOfTheFirstVersionAreRead(String keys) {
    StagePlan stage = read(divided(keys)).plan().stages().get(0);
    assertEquals(Parallelism.of(Kind.TENSOR, 2), stage.parallelism());
    assertEquals(2, stage.replicas());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"tensor\": 4, \"kind\": \"sensor\" | kind is the text \"sensor\"; expected one of data, tensor, data+tensor, one device",
        "\"tensor\": 4, \"kind\": \"data\" | kind is \"data\", but data 1 and tensor 4 are \"tensor\"; make them agree",
        "\"tensor\": 3 | the stage has 4 devices, but data 1 times tensor 3 makes 3; make them agree",
        "\"parallelism\": \"tensor:0\" | is \"tensor:0\"; expected a kind of tensor",
        "\"parallelism\": \"filter:3\" | a stage has whole tensor-parallel groups: devices=4, parallelism=filter:3"
      })
  void parallelismThatContradictsItselfIsRefused(String keys, String words) {
    String refusal = Refusal.of(Refusal.file(folder, "plan.json", divided(keys)), PlanJson::read);
    assertTrue(refusal.contains(words), refusal);
  }

  @ParameterizedTest
  @CsvSource({"1f1b, 8, 3, 2, 1", "1f1b-b, 8, 5, 3, 1", "gpipe, 8, 8, 8, 8", "1f1b-b, 2, 2, 2, 1"})
  void inFlightFollowsFromTheSchedule(String schedule, int microBatches, int a, int b, int c) {
    String text =
        """
        {"schedule": "%s", "micro_batch": 1, "micro_batches": %d, "stages": [
          {"layers": [0, 0], "devices": [0]},
          {"layers": [1, 1], "devices": [1]},
          {"layers": [2, 2], "devices": [2]}]}
        """
            .formatted(schedule, microBatches);
    assertArrayEquals(new int[] {a, b, c}, read(text).plan().inFlight());
  }

  @RepeatedTest(200)
  void whatIsWrittenIsReadBackEqual(RepetitionInfo seed) {
    PlanFile<PipelinePlan> plan = random(new RandomModel(seed.getCurrentRepetition()));
    Path file = folder.resolve("plan.json");
    PlanJson.write(file, plan);
    assertSame(plan, PlanJson.read(file));
  }

  private static PlanFile<PipelinePlan> random(RandomModel made) {
    SplittableRandom random = made.random();
    int replicas = random.nextInt(1, 4);
    int microBatches = random.nextInt(1, 100);
    PipelinePolicy policy = made.one(PipelinePolicy.values());
    List<StagePlan> stages = new ArrayList<>();
    int layer = 0;
    int device = 0;
    for (int i = random.nextInt(1, 9); i > 0; i--) {
      int last = layer + random.nextInt(5);
      List<Integer> devices = new ArrayList<>();
      for (int d = replicas * random.nextInt(1, 30); d > 0; d--) {
        devices.add(device++);
      }
      Recompute recompute = made.one(Recompute.values());
      List<LayerRange> again = new ArrayList<>();
      for (int l = layer; l <= last && recompute == Recompute.SELECTIVE; l += 2) {
        again.add(new LayerRange(l, Math.min(last, l + random.nextInt(2))));
      }
      int held = policy == PipelinePolicy.ALL ? microBatches : random.nextInt(1, microBatches + 1);
      StagePlan stage = new StagePlan(layer, last, devices, recompute, held, again);
      boolean divides = made.flip() && devices.size() % (2 * replicas) == 0;
      stages.add(divides ? stage.with(made.one(DIVIDED)) : stage);
      layer = last + 1;
    }
    PipelinePlan whole =
        new PipelinePlan(policy, microBatches, random.nextInt(1, 9), replicas, made.flip(), stages);
    PipelinePlan sharded = whole.with(made.one(ZeroStage.values()));
    PipelinePlan plan = Assignment.of(sharded).shardingRefusal().isEmpty() ? sharded : whole;
    return made.flip()
        ? new PlanFile<>(plan, MadeFor.UNKNOWN, Optional.empty())
        : new PlanFile<>(
            plan,
            new MadeFor(
                Optional.of(made.text()),
                Optional.of(made.text()),
                OptionalLong.of(made.count()),
                OptionalInt.of(made.count()),
                OptionalInt.of(made.count()),
                Optional.of(
                    new Training(made.one(Optimizer.values()), made.one(Precision.values()))),
                new GivenMemory(
                    OptionalLong.of(random.nextLong(1, (long) Range.BYTES.most())),
                    OptionalDouble.of(random.nextDouble()))),
            Optional.of(made.text()));
  }

  @Test
  void aZeroStageIsReadWhereThePlanCanHaveIt() {
    assertEquals(ZeroStage.NOTHING, read(GOOD).plan().sharding());
    String three = GOOD.replace("\"stages\"", "\"zero\": 3, \"stages\"");
    assertEquals(ZeroStage.PARAMETERS, read(three).plan().sharding());
    refused(
        "5: there are ZeRO stages 0 to 3, not 4; give one of them",
        "\"stages\"",
        "\"zero\": 4, \"stages\"");
    refused(
        "4: all replicas get parameters for each of their micro-batches, but one of 1 samples leaves"
            + " some of 2 without any; take larger micro-batches, or 2",
        "\"micro_batch\": 2",
        "\"micro_batch\": 1, \"zero\": 3");
  }

  @Test
  void optimizerAndPrecisionBelongTogether() {
    refused(
        "1: optimizer and precision belong together; give both or neither",
        "\"cost_model\"",
        "\"optimizer\": \"adam\", \"cost_model\"");
  }

  @Test
  void unknownKeysAreRefused() {
    refused("1: unknown key \"modle\"; did you mean \"model\"?", "\"model\"", "\"modle\"");
    refused(
        "4: unknown key \"microbatches\" in plan; did you mean \"micro_batches\"?",
        "micro_batches",
        "microbatches");
    refused(
        "6: unknown key \"layer\" in plan.stages[0]; did you mean \"layers\"?",
        "\"layers\": [0",
        "\"layer\": [0");
  }

  /** By name where the catalogue makes the same order from it, and otherwise as it is. */
  @Test
  void plansOfAnyScheduleAreReadAsWritten() {
    Schedule looped = Interleaved.of(2, 2, 4);
    Schedule bothWays = Chimera.of(4, 4);
    Schedule own = OneForwardOneBackwardV.of(2, 4).named("mine");
    for (Schedule schedule : List.of(looped, bothWays, own)) {
      FixedOrder order = FixedOrder.of(schedule);
      List<StagePlan> stages = new ArrayList<>();
      int[] inFlight = order.inFlight(order.stages(), 4);
      for (int stage = 0; stage < order.stages(); stage++) {
        List<Integer> devices = List.of(schedule.placement().rankOf(stage));
        stages.add(new StagePlan(stage, stage, devices, Recompute.NONE, inFlight[stage]));
      }
      PipelinePlan plan = new PipelinePlan(order, 4, 2, 1, false, stages);
      String text = PlanJson.text(new PlanFile<>(plan, MadeFor.UNKNOWN, Optional.empty()));
      assertEquals(plan, read(text).plan());
      assertEquals(schedule == own, text.contains("\"order\""));
    }
  }

  @Test
  void missingKeysAndWrongValuesAreRefused() {
    refused("3: the key \"schedule\" is missing in plan; add it", "\"schedule\": \"1f1b\", ", "");
    refused(
        "4: plan.schedule is the text \"zb-h3\"; expected one of "
            + String.join(", ", PlanScheduleJson.names()),
        "1f1b",
        "zb-h3");
    refused(
        "4: the order of zb-v depends on times, and the plan has none; add order, as `pipewright plan` writes it",
        "1f1b",
        "zb-v");
    refused(
        "4: order:1:5: unknown action 'X' in '0X0'; one of F, B, I, W, SEND_F, RECV_F, SEND_B, RECV_B, UNSHARD, RESHARD, REDUCE_GRAD",
        "\"1f1b\",",
        "\"mine\", \"order\": [\"0F0,0X0\", \"1F0,1B0\"],");
    refused(
        "6: plan.stages[0].layers holds 1 numbers; expected [first, last], last inclusive",
        "[0, 8]",
        "[8]");
    refused(
        "7: plan.stages[1].recompute is the text \"full\"; expected one of none, stage-input, except-last, selective",
        "stage-input",
        "full");
    refused(
        "6: plan.stages[0].devices[1] is the number -1; expected a whole number >= 0",
        "[0, 1]",
        "[0, -1]");
    refused(
        "7: in_flight=33 exceeds micro_batches=32; a stage holds at most all of them",
        "\"recompute\": \"stage-input\"",
        "\"in_flight\": 33");
  }

  @Test
  void plansThatCannotBeAreRefused() {
    refused(
        "5: stages must follow each other without gap: expected first layer 9, found 10,"
            + " so that no stage has layer 9",
        "[9, 20]",
        "[10, 20]");
    refused("5: device 1 serves two stages", "[2, 3]", "[1, 3]");
    refused("6: a stage names a device twice: devices=[0, 0]", "[0, 1]", "[0, 0]");
    refused(
        "7: layers to compute again belong to selective recomputation: recompute=selective,"
            + " again=[]",
        "stage-input",
        "selective");
    refused(
        "7: plan.stages[1].recomputed[0] holds 1 numbers; expected [first, last], last inclusive",
        "\"stage-input\"",
        "\"selective\", \"recomputed\": [[9]]");
    refused(
        "7: layers to compute again are in order and of the stage: layers=[9, 20],"
            + " again=[[9, 21]]",
        "\"stage-input\"",
        "\"selective\", \"recomputed\": [[9, 21]]");
    refused("6: a stage needs a device: layers=[0, 8]", "[0, 1]", "[]");
    refused("6: a stage runs from its first layer to its last: layers=[8, 0]", "[0, 8]", "[8, 0]");
    refused(
        "5: each copy of the pipeline needs the same share of a stage: devices=2, replicas=3",
        "\"micro_batch\": 2,",
        "\"micro_batch\": 2, \"replicas\": 3,");
    Refusal.assertRefused(
        "p.json:2: a plan has stages: stages=0",
        Refusal.file(
            folder,
            "p.json",
            "{\"schedule\": \"1f1b\", \"micro_batches\": 1, \"micro_batch\": 1,\n\"stages\": []}"),
        PlanJson::read);
  }

  @Test
  void anAnswerWithoutAPlanIsRefused() {
    Refusal.assertRefused(
        "p.json:1: the answer holds no plan because nothing fitted; give an answer with a plan",
        Refusal.file(folder, "p.json", "{\"planner\": \"dapple\", \"plan\": null}"),
        PlanJson::read);
  }

  @Test
  void brokenFilesAreRefusedInASentence() {
    for (int end = 0; end < GOOD.length() - 2; end += 5) {
      Refusal.of(Refusal.file(folder, "p.json", GOOD.substring(0, end)), PlanJson::read);
    }
    Refusal.of(Refusal.file(folder, "p.json", "[]"), PlanJson::read);
  }
}
