package dev.pipewright.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PipelinePlanTest {
  private static StagePlan stage(int first, int last, int device, int count, Parallelism split) {
    List<Integer> devices = IntStream.range(device, device + count).boxed().toList();
    return new StagePlan(first, last, devices, Recompute.NONE, 1).with(split);
  }

  private static PipelinePlan plan(int replicas, boolean overlap, StagePlan... stages) {
    return new PipelinePlan(PipelinePolicy.A, 8, 2, replicas, overlap, List.of(stages));
  }

  private static final Parallelism BY_TWO = Parallelism.of(Kind.TENSOR, 2);

  @Test
  void kindsSayHowDevicesShareTheWork() {
    Parallelism none = Parallelism.NONE;
    assertEquals("one device", plan(1, false, stage(0, 3, 0, 1, none)).kind());
    assertEquals("data parallel", plan(1, false, stage(0, 3, 0, 4, none)).kind());
    assertEquals("data parallel, overlapped", plan(1, true, stage(0, 3, 0, 4, none)).kind());
    assertEquals("tensor parallel", plan(1, false, stage(0, 3, 0, 2, BY_TWO)).kind());
    assertEquals("data and tensor parallel", plan(1, false, stage(0, 3, 0, 4, BY_TWO)).kind());
    Parallelism tokens = Parallelism.of(Kind.CONTEXT, 2);
    assertEquals("data and context parallel", plan(1, false, stage(0, 3, 0, 4, tokens)).kind());
    StagePlan end = stage(4, 6, 4, 1, none);
    assertEquals("straight pipeline", plan(1, false, stage(0, 3, 0, 1, none), end).kind());
    assertEquals("hybrid", plan(1, false, stage(0, 3, 0, 4, none), end).kind());
    assertEquals("hybrid", plan(1, false, stage(0, 3, 0, 2, BY_TWO), end).kind());
  }

  @Test
  void groupsThatDivideLayersAreReplicasOfAStage() {
    PipelinePlan plan =
        plan(1, false, stage(0, 3, 0, 4, BY_TWO), stage(4, 6, 4, 3, Parallelism.NONE));
    assertEquals(2, plan.stages().get(0).replicas());
    assertEquals(3, plan.stages().get(1).replicas());
    assertEquals(7, plan.devices());
    assertTrue(plan.dividesLayers());
    assertEquals("[0..3]×4t2 [4..6]×3", plan.summary());
    assertFalse(plan.with(List.of(plan.stages().get(0).with(Parallelism.NONE))).dividesLayers());
  }

  @Test
  void aStageHasWholeGroups() {
    Parallelism by3 = Parallelism.of(Kind.FILTER, 3);
    String refusal =
        String.valueOf(
            assertThrows(IllegalArgumentException.class, () -> stage(0, 3, 0, 4, by3))
                .getMessage());
    assertEquals(
        "a stage has whole tensor-parallel groups: devices=4, parallelism=filter:3", refusal);
  }

  @Test
  void recomputedLayersAreThoseOfTheChoiceOrAll() {
    StagePlan kept = stage(2, 5, 0, 1, Parallelism.NONE);
    assertEquals(List.of(), kept.recomputed());
    List<LayerRange> some = List.of(new LayerRange(3, 4));
    assertEquals(some, kept.selective(some).recomputed());
    StagePlan whole = new StagePlan(2, 5, List.of(0), Recompute.STAGE_INPUT, 1);
    assertEquals(List.of(new LayerRange(2, 5)), whole.recomputed());
  }

  @ParameterizedTest
  @CsvSource({
    "tensor:4, 4",
    "sequence:2, 2",
    "filter:3, 3",
    "channel:8, 8",
    "spatial:2x3, 6",
    "expert:4x1, 4",
    "sequence:2x4, 8"
  })
  void parallelismIsReadAsItIsWritten(String text, int parts) {
    Parallelism read = Parallelism.parse(text).orElseThrow();
    assertEquals(parts, read.parts());
    assertEquals(text, read.toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "tensor",
        "tensor:0",
        "tensor:2x2",
        "none:2",
        "experts:4",
        "expert:2x2x2",
        "sequence:1x4",
        "sequence:4x1",
        "sequence:2x2x2",
        "tensor:2x4",
        "context:4x1",
        "spatial:2x",
        "t:9"
      })
  void whatIsNoParallelismIsNotRead(String text) {
    assertEquals(Optional.empty(), Parallelism.parse(text));
  }

  @Test
  void copiesOfAGroupHoldPiecesOfTheSameLayers() {
    Parallelism copies = Parallelism.ofCopies(2, 4);
    assertEquals(List.of(2, 4, 8), List.of(copies.copies(), copies.pieces(), copies.parts()));
    assertEquals(List.of(2, 4), List.of(copies.tokenParts(), copies.featureParts()));
    assertEquals(Parallelism.of(Kind.SEQUENCE, 4), copies.ofCopy());
    assertEquals(copies.ofCopy(), Parallelism.ofCopies(1, 4));
    assertEquals(List.of("c2t4", "context+sequence"), List.of(copies.degree(), copies.word()));
    assertEquals(
        List.of(0, 1, 2, 3, 0, 1, 2, 3),
        IntStream.range(0, copies.parts()).mapToObj(copies::piece).toList());
    Parallelism tensor = Parallelism.of(Kind.TENSOR, 4);
    assertEquals(List.of(1, 4), List.of(tensor.copies(), tensor.pieces()));
    assertEquals(
        List.of(true, false, true, false),
        Stream.of(copies, tensor, Parallelism.of(Kind.CONTEXT, 2), Parallelism.NONE)
            .map(Parallelism::sharesWeights)
            .toList());
  }

  @Test
  void groupsThatShareOutExpertsHaveSamplesOfTheirOwn() {
    Parallelism copies = Parallelism.ofExpertCopies(4, 2);
    assertEquals(Optional.of(copies), Parallelism.parse("expert:4x2"));
    assertEquals(List.of(4, 2, 8), List.of(copies.copies(), copies.pieces(), copies.expertParts()));
    assertEquals(
        List.of(4, 1, 2),
        List.of(copies.sampleParts(), copies.tokenParts(), copies.featureParts()));
    assertEquals(Parallelism.of(Kind.SEQUENCE, 2), copies.ofCopy());
    assertEquals(Parallelism.ofWholeSequences(4), copies.betweenCopies());
    assertEquals(List.of("e8t2", "sequence+expert"), List.of(copies.degree(), copies.word()));
    Parallelism one = Parallelism.ofExpertCopies(1, 2);
    assertEquals(List.of(1, 2, 2), List.of(one.copies(), one.pieces(), one.expertParts()));
    assertEquals(
        List.of(true, false, true),
        Stream.of(copies, one, Parallelism.ofWholeSequences(4))
            .map(Parallelism::sharesWeights)
            .toList());
    assertEquals(Parallelism.ofExpertCopies(4, 1), Parallelism.ofWholeSequences(4));
  }

  @Test
  void devicesThatShareOutSamplesHaveEquallyMany() {
    Parallelism three = Parallelism.ofWholeSequences(3);
    assertEquals(
        List.of("e3", "expert", "ce3", "context+expert"),
        Stream.of(three, Parallelism.of(Kind.EXPERT, 3))
            .flatMap(each -> Stream.of(each.degree(), each.word()))
            .toList());
    StagePlan stage = stage(0, 6, 0, 6, three);
    PipelinePlan even = new PipelinePlan(PipelinePolicy.A, 2, 12, 1, false, List.of(stage));
    assertEquals(24, even.globalBatch());
    assertEquals(
        "a micro-batch is a multiple of the devices that split its samples: parallelism=expert:3x1,"
            + " micro_batch=8, devices=6",
        assertThrows(
                IllegalArgumentException.class,
                () -> new PipelinePlan(PipelinePolicy.A, 2, 8, 1, false, List.of(stage)))
            .getMessage());
  }

  /** An assignment has a worker for each device, groups one after the other. */
  @Test
  void workersFollowThePlansGroups() {
    PipelinePlan plan =
        plan(1, false, stage(0, 3, 0, 4, BY_TWO), stage(4, 6, 4, 2, Parallelism.NONE));
    Assignment assignment = Assignment.of(plan);
    assertEquals(6, assignment.size());
    assertEquals(2, assignment.replicas(0));
    assertEquals(List.of(2, 3), assignment.tensorGroup(3));
    assertEquals(List.of(1, 3), assignment.samePart(3));
    assertEquals(List.of(4, 5), assignment.samePart(5));
  }
}
