package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.SplitConcat;
import dev.pipewright.planner.PlacementSpace.Step;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlacementSpaceTest {
  private static final double BYTES = 1e6;

  private static Cluster nodes(int machines, int devices) {
    return Samples.plain(List.of(Link.of(0.1, 1e7), Link.of(0.3, 1e6)), devices, machines);
  }

  private static PlacementSpace space(Cluster cluster, int unit) {
    return new PlacementSpace(cluster, unit, PlacementSpace.allCounts(cluster, unit), true);
  }

  /** All ways to put up to {@code most} stages, last stage first in the lists. */
  private static void walk(
      PlacementSpace space, int state, int most, List<Step> steps, List<List<Step>> found) {
    if (!steps.isEmpty()) {
      found.add(List.copyOf(steps));
    }
    if (steps.size() == most) {
      return;
    }
    for (Step step : space.steps(state)) {
      steps.add(step);
      walk(space, step.next(), most, steps, found);
      steps.remove(steps.size() - 1);
    }
  }

  private static List<List<Step>> walks(PlacementSpace space, int most) {
    List<List<Step>> found = new ArrayList<>();
    walk(space, space.start(), most, new ArrayList<>(), found);
    return found;
  }

  /** All ordered choices of disjoint device sets for up to {@code most} stages. */
  private static void subsets(
      int size, int used, int most, List<List<Integer>> stages, List<List<List<Integer>>> found) {
    if (!stages.isEmpty()) {
      found.add(List.copyOf(stages));
    }
    if (stages.size() == most) {
      return;
    }
    for (int set = 1; set < 1 << size; set++) {
      if ((set & used) == 0) {
        int bits = set;
        stages.add(IntStream.range(0, size).filter(d -> (bits & 1 << d) != 0).boxed().toList());
        subsets(size, used | set, most, stages, found);
        stages.remove(stages.size() - 1);
      }
    }
  }

  /**
   * What a placement is up to symmetry: for each machine how many devices each stage has, machines
   * that may be exchanged in sorted order.
   */
  private static String shape(Cluster cluster, List<List<Integer>> stages) {
    List<String> machines = new ArrayList<>();
    for (int machine = 0; machine < cluster.machines(); machine++) {
      int[] counts = new int[stages.size()];
      int rack = -1;
      for (int device = 0; device < cluster.size(); device++) {
        if (cluster.machine(device) == machine) {
          rack = cluster.group(cluster.levels().size() - 1, device);
          if (cluster.levels().size() > 2) {
            rack = cluster.group(1, device);
          }
          for (int s = 0; s < counts.length; s++) {
            counts[s] += stages.get(s).contains(device) ? 1 : 0;
          }
        }
      }
      machines.add(rack + ":" + List.of(IntStream.of(counts).boxed().toArray()));
    }
    Collections.sort(machines);
    return machines.toString();
  }

  @ParameterizedTest(name = "{0} machines of {1}")
  @CsvSource({"2, 2", "2, 3", "4, 1", "1, 4", "3, 2"})
  void everyPlacementIsReachedUpToSymmetry(int machines, int devices) {
    reachesAll(nodes(machines, devices));
  }

  @Test
  void racksAreReachedToo() {
    var levels = Samples.levels(new SplittableRandom(1), 3);
    reachesAll(Samples.racks(levels, new int[] {2, 1, 1}, new int[] {1, 2}));
    reachesAll(Samples.racks(levels, new int[] {1, 1, 1, 1, 1}, new int[] {2, 3}));
  }

  private static void reachesAll(Cluster cluster) {
    PlacementSpace space = space(cluster, 1);
    assertTrue(space.everyPlacement());
    Set<String> reached = new TreeSet<>();
    for (List<Step> steps : walks(space, 3)) {
      reached.add(shape(cluster, space.assign(steps)));
    }
    List<List<List<Integer>>> all = new ArrayList<>();
    subsets(cluster.size(), 0, 3, new ArrayList<>(), all);
    Set<String> shapes = new TreeSet<>();
    for (List<List<Integer>> stages : all) {
      shapes.add(shape(cluster, stages));
    }
    assertEquals(shapes, reached);
  }

  @RepeatedTest(value = 60, name = "seed {currentRepetition}")
  void devicesThatAreAssignedCostWhatWasPriced(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Cluster cluster = randomCluster(random);
    int unit = random.nextInt(1, 3);
    PlacementSpace space = space(cluster, unit);
    for (List<Step> steps : walks(space, 3)) {
      List<List<Integer>> stages = space.assign(steps);
      assertEquals(steps.size(), stages.size());
      Set<Integer> used = new HashSet<>();
      for (int s = 0; s < stages.size(); s++) {
        Step step = steps.get(stages.size() - 1 - s);
        int[] real = ints(stages.get(s));
        assertEquals(step.devices(), real.length);
        assertEquals(0, real.length % unit);
        stages.get(s).forEach(device -> assertTrue(used.add(device), "taken twice"));
        int[] priced = space.devices(step.placement());
        assertEquals(kinds(cluster, priced), kinds(cluster, real));
        assertEquals(
            Collectives.over(cluster, priced).allReduce(BYTES),
            Collectives.over(cluster, real).allReduce(BYTES),
            1e-12);
        if (s + 1 < stages.size()) {
          int[] next = ints(stages.get(s + 1));
          int[] senders = space.senders(step.pair());
          int[] receivers = space.receivers(step.pair());
          same(cluster, senders, receivers, real, next);
          same(cluster, receivers, senders, next, real);
        }
      }
      int left = space.freeDevices(steps.get(steps.size() - 1).next());
      assertEquals(cluster.size() - used.size(), left);
    }
  }

  private static Cluster randomCluster(SplittableRandom random) {
    List<Level> levels = Samples.levels(random, 3);
    Cluster cluster =
        switch (random.nextInt(4)) {
          case 0 -> Samples.racks(levels, new int[] {2, 1, 2}, new int[] {1, 2});
          case 1 -> Samples.racks(levels, new int[] {1, 2, 1, 1}, new int[] {3, 1});
          case 2 -> nodes(3, 2);
          default -> nodes(2, 3);
        };
    return random.nextBoolean() ? cluster : Samples.mixed(random, cluster, 1 << 30);
  }

  private static void same(Cluster cluster, int[] from, int[] to, int[] realFrom, int[] realTo) {
    assertEquals(
        SplitConcat.between(cluster, from, to).seconds(BYTES),
        SplitConcat.between(cluster, realFrom, realTo).seconds(BYTES),
        1e-12);
  }

  private static List<String> kinds(Cluster cluster, int[] devices) {
    return IntStream.of(devices).mapToObj(d -> cluster.device(d).name()).sorted().toList();
  }

  private static int[] ints(List<Integer> values) {
    return values.stream().mapToInt(Integer::intValue).toArray();
  }

  @Test
  void earlyStagesGetLowNumbers() {
    PlacementSpace space = space(nodes(2, 2), 1);
    for (List<Step> steps : walks(space, 2)) {
      List<List<Integer>> stages = space.assign(steps);
      assertTrue(stages.get(0).contains(0), () -> "the first stage starts at 0: " + stages);
      if (stages.size() == 1) {
        List<Integer> only = stages.get(0);
        assertEquals(only.stream().sorted().toList(), only);
      }
    }
  }

  @Test
  void freshFirstTakesUnusedMachinesAppendFirstUsedOnesScatterFirstAllInUse() {
    List<int[]> found = new ArrayList<>();
    int[] free = {4, 2, 1, 4};
    int[] used = {0, 2, 3, 0};
    PlacementPolicies.all(used, free, new int[] {0, 0, 3, 0}, 3, found);
    assertEquals(
        List.of(List.of(3, 0, 0, 0), List.of(0, 2, 1, 0)), // append fills the neighbour first
        found.stream().map(taken -> IntStream.of(taken).boxed().toList()).toList());
    found.clear();
    PlacementPolicies.all(used, free, new int[] {0, 2, 0, 0}, 2, found);
    assertEquals(
        List.of(List.of(2, 0, 0, 0), List.of(0, 2, 0, 0), List.of(0, 1, 1, 0)),
        found.stream().map(taken -> IntStream.of(taken).boxed().toList()).toList());
    found.clear();
    PlacementPolicies.all(new int[4], new int[] {4, 4, 4, 4}, new int[4], 6, found);
    assertEquals(
        List.of(List.of(4, 2, 0, 0), List.of(2, 2, 1, 1)), // all are unused: fresh is append
        found.stream().map(taken -> IntStream.of(taken).boxed().toList()).toList());
  }

  @Test
  void stageSizesAreMultiplesOfTheCopiesOfThePipeline() {
    assertEquals(
        List.of(2, 4), IntStream.of(PlacementSpace.allCounts(nodes(1, 5), 2)).boxed().toList());
  }
}
