package dev.pipewright.formats.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.model.Chain;
import dev.pipewright.planner.pipedream.BandwidthLevel;
import dev.pipewright.planner.pipedream.CutCosts;
import dev.pipewright.planner.pipedream.PipeDream2bwRepoPlanner;
import dev.pipewright.planner.pipedream.PipeDream2bwRepoPlanner.Blocks;
import dev.pipewright.planner.pipedream.PipeDream2bwRepoPlanner.Row;
import dev.pipewright.planner.pipedream.PipeDream2bwRepoPlanner.Table;
import dev.pipewright.planner.pipedream.PipeDreamOptimizer;
import dev.pipewright.planner.pipedream.PipeDreamPlanning;
import dev.pipewright.profile.Profile.Quantity;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the programs of PipeDream's and PipeDream-2BW's authors found. */
class ReferencePipeDreamTest {
  private static final Path FOLDER = Path.of(String.valueOf(System.getProperty("reference.dir")));

  /** One recorded run; nothing where the reference is absent. */
  record Recorded(@Nullable JsonNode run) {
    JsonNode get() {
      assumeTrue(run != null, "no reference runs in " + FOLDER);
      return java.util.Objects.requireNonNull(run);
    }

    double number(String name) {
      return get().get(name).asDouble();
    }

    PipeDreamPlanning plan() {
      List<BandwidthLevel> levels = new ArrayList<>();
      for (int i = 0; i < get().get("machines_per_level").size(); i++) {
        int units = get().get("machines_per_level").get(i).asInt();
        levels.add(new BandwidthLevel(units, get().get("bandwidths_Bps").get(i).asDouble()));
      }
      boolean charged = !get().get("tag").asString().endsWith("nocomm");
      CutCosts costs = costs("pipedream/" + get().get("input").asString());
      return PipeDreamOptimizer.plan(costs, levels, charged, () -> false);
    }

    @Override
    public String toString() {
      JsonNode named = run;
      return named == null ? "no reference" : named.path("tag").asString("blocks");
    }
  }

  private static CutCosts costs(String name) {
    ModelFile model = GraphText.read(FOLDER.resolve(name), 1); // whole mini-batches
    double[] seconds = model.profile().seconds(Quantity.FORWARD, 1);
    double[] backward = model.profile().seconds(Quantity.BACKWARD, 1);
    for (int layer = 0; layer < seconds.length; layer++) {
      seconds[layer] += backward[layer];
    }
    return CutCosts.of(
        Chain.of(model.graph()),
        seconds,
        model.profile().parameterBytes(),
        model.profile().outputBytes());
  }

  static Stream<Recorded> runs() {
    return recorded("pipedream/optimizer-results.json", "");
  }

  static Stream<Recorded> cases() {
    return recorded("pipedream-2bw/planner-cases.json", "/cases");
  }

  private static Stream<Recorded> recorded(String name, String at) {
    Path file = FOLDER.resolve(name);
    if (!Files.exists(file)) {
      return Stream.of(new Recorded(null));
    }
    List<Recorded> runs = new ArrayList<>();
    JsonMapper.shared().readTree(file.toFile()).at(at).forEach(run -> runs.add(new Recorded(run)));
    return runs.stream();
  }

  private static void close(double theirs, double ours) {
    assertEquals(theirs, ours, 1e-9 * theirs);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("runs")
  void theOptimumTakesWhatTheyRecorded(Recorded recorded) {
    double theirs = recorded.number("objective_time_per_minibatch_s");
    PipeDreamPlanning planning = recorded.plan();
    close(theirs, planning.seconds());
    close(recorded.number("single_stage_s"), planning.singleDeviceSeconds());
    double dataParallel = planning.singleDeviceSeconds() / planning.dataParallelSeconds();
    close(recorded.number("dp_speedup"), dataParallel);
    assertEquals((int) recorded.number("states"), planning.states());
    assertTrue(planning.complete());
    assertTrue(planning.lowerBound().value() <= theirs);
  }

  @Test
  void aNetworkOfAThousandPlacesIsPlannedExactlyAtOnce() { // theirs did not finish
    Path file = FOLDER.resolve("dapple/gnmt-16-pbs-64.txt");
    assumeTrue(Files.exists(file), "no reference profile " + file);
    PipeDreamPlanning planning =
        PipeDreamOptimizer.plan(
            costs("dapple/gnmt-16-pbs-64.txt"),
            List.of(new BandwidthLevel(4, 25e9), new BandwidthLevel(4, 1e9)),
            true,
            () -> false);
    assertEquals(1495, planning.states());
    assertTrue(planning.complete());
    assertEquals(16, planning.devices());
    assertTrue(planning.seconds() >= planning.lowerBound().value());
    assertTrue(planning.seconds() < 1.3 * planning.lowerBound().value());
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void theTableOfTwoBuffersIsTheirs(Recorded recorded) {
    Blocks blocks =
        new Blocks(
            (int) recorded.number("num_blocks"),
            recorded.number("computation_time_per_block"),
            recorded.number("num_parameters_per_block"),
            recorded.number("num_activations_per_block"),
            recorded.number("output_activation_size"));
    Table table =
        PipeDream2bwRepoPlanner.plan(
            blocks, (int) recorded.number("num_workers"), recorded.number("memory_capacity"));
    JsonNode rows = recorded.get().get("table");
    assertEquals(rows.size(), table.rows().size());
    for (int i = 0; i < rows.size(); i++) {
      Row row = table.rows().get(i);
      assertEquals(rows.get(i).get("w").asInt(), row.width());
      assertEquals(rows.get(i).get("d").asInt(), row.depth());
      assertEquals(rows.get(i).get("mem_bytes").asDouble(), row.memoryBytes());
      close(rows.get(i).get("cost_s").asDouble(), row.seconds());
      assertEquals(rows.get(i).get("fits").asBoolean(), row.fits());
    }
    JsonNode best = recorded.get().get("best");
    Row found = table.best().orElseThrow();
    assertEquals(best.get("w").asInt(), found.width());
    assertEquals(best.get("d").asInt(), found.depth());
    close(best.get("cost_s").asDouble(), found.seconds());
  }
}
