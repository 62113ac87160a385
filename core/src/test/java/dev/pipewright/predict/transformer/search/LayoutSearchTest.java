package dev.pipewright.predict.transformer.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.StepEvaluator;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerPrediction;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Searches with and without bounds, and loops over predictions in full, agree. */
class LayoutSearchTest {
  private static final double SAME = 1e-12; // relative
  private static final int FEW = 3_000; // layouts that are predicted in full

  /** A layout with its number, as a loop over all finds it. */
  private record Found(long number, double seconds, double bytes) {
    boolean excels(Found that) {
      return seconds <= that.seconds
          && bytes <= that.bytes
          && (seconds < that.seconds || bytes < that.bytes);
    }
  }

  private static void each(SearchSpace space, List<SearchMesh> meshes, Visit visit) {
    for (SearchMesh mesh : meshes) {
      for (int choice = 0; choice < mesh.choices(); choice++) {
        for (int size = 0; size < mesh.sizes(); size++) {
          for (int zero = 0; zero < mesh.zeros(); zero++) {
            for (int offload = 0; offload < mesh.offloads(); offload++) {
              long number = mesh.number(choice, size);
              number += (long) zero * space.values().offload().size() + offload;
              StepEvaluator step =
                  new StepEvaluator(
                      mesh.terms(), mesh.microBatch(choice, size), mesh.batches(size));
              step.zero(space.zeroChoices().get(zero).index());
              visit.layout(number, step, space.values().offload().get(offload));
            }
          }
        }
      }
    }
  }

  private interface Visit {
    void layout(long number, StepEvaluator step, int offloaded);
  }

  private static List<Found> fitting(SearchSpace space, List<SearchMesh> meshes) {
    List<Found> found = new ArrayList<>();
    each(
        space,
        meshes,
        (number, step, offloaded) -> {
          double bytes = step.bytes(offloaded);
          if (meshes.get(0).terms().holds(bytes)) {
            found.add(new Found(number, step.seconds(offloaded), bytes));
          }
        });
    found.sort(Comparator.comparingLong(Found::number));
    return found;
  }

  /** The fastest of each micro-batch, the fastest of those first; the least number of equals. */
  private static List<Found> best(SearchSpace space, List<Found> fitting) {
    TreeMap<Long, Found> one = new TreeMap<>();
    for (Found found : fitting) {
      one.merge(
          found.number / space.numbersOfMicroBatch(),
          found,
          (before, here) -> here.seconds < before.seconds ? here : before);
    }
    List<Found> all = new ArrayList<>(one.values());
    all.sort(Comparator.comparingDouble(Found::seconds).thenComparingLong(Found::number));
    return all.subList(0, Math.min(10, all.size()));
  }

  private static List<RankedLayout> ranked(SearchSpace space, List<Found> found) {
    return found.stream()
        .map(f -> new RankedLayout(space.layout(f.number), f.seconds, f.bytes))
        .toList();
  }

  @RepeatedTest(300)
  void thePrunedSearchFindsTheSameTen(RepetitionInfo seed) {
    RandomSpaces random = new RandomSpaces(seed.getCurrentRepetition());
    CalibratedConstants constants = random.constants();
    LayoutSearch search = LayoutSearch.of(random.space(constants), constants);
    LayoutSurvey all = search.survey();
    LayoutSurvey pruned = search.best();
    assertEquals(all.best(), pruned.best());
    assertEquals(all.count().valid(), pruned.count().valid());
    assertTrue(pruned.count().unfit() <= all.count().unfit());
    assertEquals(0, all.count().pruned());
  }

  @RepeatedTest(40)
  void everyLayoutIsLookedAt(RepetitionInfo seed) {
    RandomSpaces random = new RandomSpaces(seed.getCurrentRepetition());
    CalibratedConstants constants = random.constants();
    SearchSpace space = random.space(constants);
    List<SearchMesh> meshes = SearchTables.of(space, constants);
    List<Found> fitting = fitting(space, meshes);
    LayoutSurvey survey = LayoutSearch.of(space, constants).survey();
    assertEquals(ranked(space, best(space, fitting)), survey.best());
    assertEquals(survey.count().valid() - survey.count().unfit(), fitting.size());
    List<Found> front = front(fitting);
    assertEquals(ranked(space, front), survey.front());
    Map<List<Integer>, List<Found>> byCell =
        fitting.stream()
            .collect(
                Collectors.groupingBy(f -> {
                  TrainingLayout layout = space.layout(f.number).layout();
                  return List.of(layout.tensor(), layout.pipeline());
                }));
    for (HeatCell cell : survey.heat()) {
      List<Found> here =
          best(space, byCell.getOrDefault(List.of(cell.tensor(), cell.pipeline()), List.of()));
      assertEquals(
          ranked(space, here.subList(0, Math.min(1, here.size()))), cell.best().stream().toList());
    }
  }

  /** Where many fit, in one pass; where few do, by the definition, too. */
  private static List<Found> front(List<Found> fitting) {
    List<Found> fastestFirst = new ArrayList<>(fitting);
    fastestFirst.sort(
        Comparator.comparingDouble(Found::seconds)
            .thenComparingDouble(Found::bytes)
            .thenComparingLong(Found::number));
    List<Found> front = new ArrayList<>();
    double least = Double.POSITIVE_INFINITY;
    for (Found here : fastestFirst) {
      if (here.bytes < least) {
        front.add(here);
        least = here.bytes;
      }
    }
    if (fitting.size() <= FEW) {
      assertEquals(frontByDefinition(fitting), front);
    }
    return front;
  }

  /** None excels it, and none before it takes and needs the same. */
  private static List<Found> frontByDefinition(List<Found> fitting) {
    return fitting.stream()
        .filter(here ->
            fitting.stream()
                .noneMatch(f ->
                    f.excels(here)
                        || (f.number < here.number
                            && f.seconds == here.seconds
                            && f.bytes == here.bytes)))
        .sorted(Comparator.comparingDouble(Found::seconds))
        .toList();
  }

  @RepeatedTest(60)
  void aLoopOverPredictionsInFullFindsTheSameTen(RepetitionInfo seed) {
    RandomSpaces random = new RandomSpaces(seed.getCurrentRepetition());
    CalibratedConstants constants = random.constants();
    SearchSpace space = random.space(constants);
    LayoutSurvey survey = LayoutSearch.of(space, constants).survey();
    while (survey.count().valid() > FEW) {
      space = random.space(constants);
      survey = LayoutSearch.of(space, constants).survey();
    }
    equal(space, constants, survey);
  }

  private static void equal(SearchSpace space, CalibratedConstants constants, LayoutSurvey survey) {
    List<Found> fitting = new ArrayList<>();
    each(
        space,
        SearchTables.of(space, constants),
        (number, step, offloaded) -> {
          TransformerPrediction full =
              TransformerOracle.predict(space.choices(space.layout(number)).run(), constants);
          if (full.fits()) {
            fitting.add(new Found(number, full.iterationSeconds(), full.worst().total()));
          }
        });
    fitting.sort(Comparator.comparingLong(Found::number));
    List<Found> expected = best(space, fitting);
    assertEquals(expected.size(), survey.best().size());
    for (int i = 0; i < expected.size(); i++) {
      Found here = expected.get(i);
      RankedLayout found = survey.best().get(i);
      assertEquals(here.seconds, found.seconds(), SAME * here.seconds);
      if (!space.layout(here.number).equals(found.searched())) { // equal but for rounding
        RankedLayout other =
            survey.best().stream()
                .filter(f -> f.searched().equals(space.layout(here.number)))
                .findFirst()
                .orElse(found);
        assertEquals(here.seconds, other.seconds(), SAME * here.seconds);
      }
    }
  }

  @RepeatedTest(50)
  void threadsMayShareTheMeshesInAnyWay(RepetitionInfo seed) {
    RandomSpaces random = new RandomSpaces(seed.getCurrentRepetition());
    CalibratedConstants constants = random.constants();
    SearchSpace space = random.space(constants);
    List<SearchMesh> meshes = new ArrayList<>(SearchTables.of(space, constants));
    Collections.shuffle(meshes, new Random(seed.getCurrentRepetition()));
    List<LayoutScan> scans = List.of(new LayoutScan(space), new LayoutScan(space));
    PrunedScan pruned = new PrunedScan(space);
    PrunedScan other = new PrunedScan(space);
    for (SearchMesh mesh : meshes) {
      scans.get((int) random.next(2)).add(mesh);
      (random.next(3) == 0 ? other : pruned).add(mesh);
    }
    scans.get(0).add(scans.get(1));
    pruned.add(other);
    LayoutSearch search = LayoutSearch.of(space, constants);
    assertEquals(search.survey(), scans.get(0).survey());
    assertEquals(search.best().best(), pruned.survey().best());
  }

  @RepeatedTest(30)
  void theFrontOverDevicesHasWhatNoneExcelsInTimeMemoryAndDevices(RepetitionInfo seed) {
    RandomSpaces random = new RandomSpaces(seed.getCurrentRepetition());
    CalibratedConstants constants = random.constants();
    SearchSpace largest = random.space(constants);
    List<LayoutSurvey> surveys = new ArrayList<>();
    List<RankedLayout> all = new ArrayList<>();
    for (int devices : List.of(largest.devices(), 1, 2, 4, 8)) {
      SearchSpace space = largest.on(devices);
      if (surveys.stream().noneMatch(survey -> survey.space().devices() == devices)) {
        surveys.add(LayoutSearch.of(space, constants).survey());
        all.addAll(surveys.get(surveys.size() - 1).front());
      }
    }
    List<RankedLayout> expected = new ArrayList<>();
    for (RankedLayout here : all) {
      if (all.stream().noneMatch(that -> excels(that, here))) {
        expected.add(here);
      }
    }
    expected.sort(
        Comparator.comparingInt((RankedLayout one) -> one.searched().layout().devices())
            .thenComparingDouble(RankedLayout::seconds));
    assertEquals(expected, ScaleFront.of(surveys));
  }

  private static boolean excels(RankedLayout that, RankedLayout here) {
    int more = that.searched().layout().devices() - here.searched().layout().devices();
    return more <= 0
        && that.seconds() <= here.seconds()
        && that.bytes() <= here.bytes()
        && (more < 0 || that.seconds() < here.seconds() || that.bytes() < here.bytes());
  }

  @RepeatedTest(10)
  void loopsAllocateNothing(RepetitionInfo seed) {
    RandomSpaces random = new RandomSpaces(seed.getCurrentRepetition());
    CalibratedConstants constants = random.constants();
    SearchSpace space = random.space(constants);
    List<SearchMesh> meshes = SearchTables.of(space, constants);
    LayoutScan scan = new LayoutScan(space);
    PrunedScan pruned = new PrunedScan(space);
    Runnable both =
        () -> {
          for (int i = 0; i < meshes.size(); i++) {
            scan.add(meshes.get(i));
            pruned.add(meshes.get(i));
          }
        };
    both.run(); // makes the evaluators
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    both.run();
    assertEquals(0, threads.getCurrentThreadAllocatedBytes() - before);
  }

  @Test
  void boundsExcludeMostLayouts() {
    long valid = 0;
    long evaluated = 0;
    for (int seed = 1; seed <= 100; seed++) {
      RandomSpaces random = new RandomSpaces(seed);
      CalibratedConstants constants = random.constants();
      SearchCount count = LayoutSearch.of(random.space(constants), constants).best().count();
      valid += count.valid();
      evaluated += count.evaluated();
    }
    assertTrue(evaluated < valid / 4, evaluated + " of " + valid);
  }
}
