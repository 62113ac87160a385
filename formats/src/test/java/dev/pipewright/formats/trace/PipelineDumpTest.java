package dev.pipewright.formats.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.compare.MeasuredPipeline;
import dev.pipewright.compare.MeasuredPipeline.Iteration;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.schedule.Diagram;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PipelineDumpTest {
  @TempDir Path folder;

  private static DumpMaker maker(int ranks, int chunks, int microBatches, double jitter) {
    int stages = ranks * chunks;
    return new DumpMaker(
        ranks,
        chunks,
        microBatches,
        stage -> (stage == stages - 1 ? 14.0 : 10.0) / chunks,
        stage -> (stage == 0 ? 23.0 : 20.0) / chunks,
        1.5 / chunks,
        0.4,
        jitter);
  }

  private MeasuredPipeline dumped(DumpMaker maker) throws IOException {
    maker.write(folder, 8, 5);
    return PipelineDump.read(folder).passes();
  }

  @Test
  void thePassesAreInTheOrderOfMegatron() throws IOException {
    Schedule plain = dumped(maker(4, 1, 8, 0)).typical().schedule();
    assertEquals(Diagram.of(OneForwardOneBackward.of(4, 8)), Diagram.of(plain));
  }

  @Test
  void thePassesOfChunksAreInTheOrderOfMegatron() throws IOException {
    Schedule chunks = dumped(maker(4, 2, 8, 0)).typical().schedule();
    assertEquals(Diagram.of(Interleaved.of(4, 2, 8)), Diagram.of(chunks));
  }

  @Test
  void mediansAreThoseOfThePipeline() throws IOException {
    var medians = dumped(maker(4, 1, 8, 0)).medians();
    assertEquals(10e-3, medians.forward()[1], 1e-6);
    assertEquals(14e-3, medians.forward()[3], 1e-6);
    assertEquals(23e-3, medians.backward()[0], 1e-6);
    assertEquals(1.5e-3, medians.there()[0], 1e-6);
    assertEquals(1.5e-3, medians.back()[1], 1e-6);
    assertEquals(0.4e-3, medians.turnaround()[2], 1e-6);
  }

  /** The bounds are those for a run on eight MI300X: 3 % without and 4 % with chunks. */
  @ParameterizedTest
  @CsvSource({
    "4, 1, 8, 0.03",
    "8, 1, 16, 0.03",
    "4, 2, 8, 0.04",
    "8, 2, 16, 0.04",
    "4, 3, 12, 0.04"
  })
  void aSimulationWithTheMediansTakesAsLongAsTheIterations(
      int ranks, int chunks, int microBatches, double bound) throws IOException {
    MeasuredPipeline passes = dumped(maker(ranks, chunks, microBatches, 0.03));
    double simulated = passes.simulated().makespan();
    List<Integer> undisturbed = passes.undisturbed().stream().map(Iteration::number).toList();
    assertEquals(List.of(2, 3, 4, 6, 7, 8), undisturbed);
    for (Iteration iteration : passes.undisturbed()) {
      assertEquals(iteration.makespan(), simulated, bound * iteration.makespan());
    }
  }

  @Test
  void aProfileHasTheStagesAsLayers() throws IOException {
    maker(4, 2, 8, 0).write(folder, 3, 0);
    ModelFile file = TracedProfile.of(PipelineDump.read(folder), 4, "pipeline", "pp_data");
    assertEquals(8, file.graph().size());
    assertEquals(List.of(4), file.profile().samples());
    assertEquals(7e-3, file.profile().times(0).get(7).forward(), 1e-6);
    assertEquals(11.5e-3, file.profile().times(0).get(0).backward(), 1e-6);
  }

  private String refusal() {
    return String.valueOf(
            assertThrows(BadInputException.class, () -> PipelineDump.read(folder)).getMessage())
        .replace(folder + "/", "")
        .replace(folder.toString(), "DIR");
  }

  @Test
  void aMissingRankIsSaid() throws IOException {
    maker(4, 1, 8, 0).write(folder, 2, 0);
    Files.delete(folder.resolve("pp_rank_2.json"));
    assertEquals(
        "DIR: has no pp_rank_2.json, but its config.json says 4 ranks; copy the files of all ranks"
            + " into it",
        refusal());
  }

  @Test
  void iterationsThatDifferAreSaid() throws IOException {
    maker(2, 1, 2, 0).write(folder, 3, 0);
    String last = Files.readString(folder.resolve("pp_rank_1.json"));
    maker(2, 1, 2, 0).write(folder, 2, 0);
    Files.writeString(folder.resolve("pp_rank_1.json"), last);
    assertEquals(
        "DIR: rank 1 has the iterations 1 to 3, but rank 0 has 1 to 2; take the files of one run",
        refusal());
  }

  @Test
  void aDumpWithoutIterationsIsSaid() throws IOException {
    maker(1, 1, 2, 0).write(folder, 1, 0);
    Files.writeString(folder.resolve("pp_rank_0.json"), "{}");
    assertEquals("pp_rank_0.json:1: holds no iteration; dump a run of one step or more", refusal());
  }

  @Test
  void aTruncatedFileIsSaid() throws IOException {
    maker(1, 1, 2, 0).write(folder, 1, 0);
    String text = Files.readString(folder.resolve("pp_rank_0.json"));
    Files.writeString(folder.resolve("pp_rank_0.json"), text.substring(0, text.length() / 2));
    assertTrue(refusal().startsWith("pp_rank_0.json:2:"), this::refusal);
    assertTrue(refusal().endsWith("; write it again"), this::refusal);
  }

  @Test
  void passesThatAreTooFewOrOverlapAreSaid() throws IOException {
    maker(1, 1, 2, 0).write(folder, 1, 0);
    Path file = folder.resolve("pp_rank_0.json");
    String text = Files.readString(file);
    Files.writeString(file, text.replaceFirst("\"fwd_end\": \\[[^,]*, ", "\"fwd_end\": ["));
    assertEquals(
        "pp_rank_0.json:2: iteration 1 has 2 begins and 1 ends of fwd passes; expected 2, for 1"
            + " chunks of 2 micro-batches",
        refusal());
    Files.writeString(file, text.replaceFirst("\"fwd_end\": \\[[^,]*,", "\"fwd_end\": [40.0,"));
    assertTrue(
        refusal().contains("passes overlap at ")
            && refusal().endsWith("; dump a run without combined forward and backward passes"),
        this::refusal);
  }
}
