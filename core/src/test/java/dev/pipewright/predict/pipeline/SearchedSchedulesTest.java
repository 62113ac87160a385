package dev.pipewright.predict.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.PipelineParts;
import dev.pipewright.predict.transformer.PredictedRun;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerRun;
import dev.pipewright.predict.transformer.search.LayoutSearch;
import dev.pipewright.predict.transformer.search.LayoutSurvey;
import dev.pipewright.predict.transformer.search.RandomSpaces;
import dev.pipewright.predict.transformer.search.RankedLayout;
import dev.pipewright.predict.transformer.search.SearchSpace;
import dev.pipewright.predict.transformer.search.SearchedLayout;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** The ten of a search under all schedules, against simulating every one. */
class SearchedSchedulesTest {
  private static final List<ScheduleEntry> OTHERS =
      ScheduleCatalog.entries().stream()
          .filter(ScheduleEntry::isSynchronousPipeline)
          .filter(entry -> !Set.of("1f1b", "interleaved").contains(entry.name()))
          .toList();

  /** What a test has simulated, by layout and schedule. */
  private final Map<List<Object>, Optional<PredictedRun>> known = new HashMap<>();

  private static SearchedLayout chunked(SearchedLayout searched, int chunks) {
    return new SearchedLayout(
        searched.layout().withInterleave(chunks), searched.recompute(), searched.offloadedLayers());
  }

  private Optional<PredictedRun> simulated(
      SearchSpace space, SearchedLayout searched, String name, CalibratedConstants constants) {
    return known.computeIfAbsent(
        List.of(searched, name), key -> predicted(space, searched, name, constants));
  }

  private static Optional<PredictedRun> predicted(
      SearchSpace space, SearchedLayout searched, String name, CalibratedConstants constants) {
    ScheduleEntry entry = ScheduleCatalog.find(name).orElseThrow();
    try {
      return Optional.of(
          ScheduledTransformer.predict(space.choices(searched).run(), entry, constants));
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // two copies, or chunks and micro-batches that do not go with it
    }
  }

  /** Every other schedule of every layout that fits, with every number of chunks. */
  private List<Double> all(LayoutSurvey survey, CalibratedConstants constants) {
    SearchSpace space = survey.space();
    Set<SearchedLayout> layouts = new LinkedHashSet<>();
    for (RankedLayout ranked : survey.best()) {
      if (ranked.searched().layout().pipeline() > 1) {
        layouts.add(chunked(ranked.searched(), 1));
      }
    }
    List<Double> seconds = new ArrayList<>();
    for (SearchedLayout layout : layouts) {
      Optional<PredictedRun> spending = simulated(space, chunked(layout, 2), "zb-v", constants);
      boolean roomy = spending.isPresent() && spending.get().step().fits();
      for (ScheduleEntry entry : OTHERS) {
        if (roomy && Set.of("v-half", "v-min").contains(entry.name())) {
          continue;
        }
        for (int chunks : space.values().interleave()) {
          boolean own = entry.fixedChunks() ? chunks == entry.chunks() : chunks > 1;
          if (own) {
            simulated(space, chunked(layout, chunks), entry.name(), constants)
                .filter(run -> run.step().fits())
                .ifPresent(run -> seconds.add(run.step().iterationSeconds()));
          }
        }
      }
    }
    survey.best().forEach(ranked -> seconds.add(ranked.seconds()));
    return seconds.stream().sorted().limit(10).toList();
  }

  private static SearchSpace pipelined(RandomSpaces random, CalibratedConstants constants) {
    SearchSpace space = random.space(constants);
    while (LayoutSearch.of(space, constants).best().best().stream()
        .noneMatch(ranked -> ranked.searched().layout().pipeline() > 1)) {
      space = random.space(constants);
    }
    return space;
  }

  @RepeatedTest(24)
  void areTheTenFastestOfAllThatFit(RepetitionInfo seed) {
    RandomSpaces random = new RandomSpaces(seed.getCurrentRepetition());
    CalibratedConstants constants = random.constants();
    LayoutSurvey survey = LayoutSearch.of(pipelined(random, constants), constants).survey();
    List<ScheduledLayout> found = SearchedSchedules.best(survey, constants);
    assertEquals(all(survey, constants), found.stream().map(ScheduledLayout::seconds).toList());
    for (ScheduledLayout one : found) {
      assertTrue(one.run().step().fits());
      if (OTHERS.stream().anyMatch(entry -> entry.name().equals(one.schedule()))) {
        PredictedRun own =
            simulated(survey.space(), one.searched(), one.schedule(), constants).orElseThrow();
        assertEquals(own.step(), one.run().step());
      }
    }
  }

  @RepeatedTest(16)
  void noScheduleIsFasterThanItsBound(RepetitionInfo seed) {
    RandomSpaces random = new RandomSpaces(seed.getCurrentRepetition());
    CalibratedConstants constants = random.constants();
    SearchSpace space = pipelined(random, constants);
    for (RankedLayout ranked : LayoutSearch.of(space, constants).best().best()) {
      if (ranked.searched().layout().pipeline() > 1) {
        for (PassBound bound : PassBound.all()) {
          for (int chunks : space.values().interleave()) {
            bounded(space, chunked(ranked.searched(), chunks), bound, constants);
          }
        }
      }
    }
  }

  private void bounded(
      SearchSpace space, SearchedLayout searched, PassBound bound, CalibratedConstants constants) {
    Optional<PredictedRun> run = simulated(space, searched, bound.entry().name(), constants);
    if (run.isPresent()) {
      TransformerRun placed = bound.placed(space.choices(searched).run());
      double passes = bound.seconds(placed.layout(), PipelineParts.of(placed, constants));
      double least = TransformerOracle.seconds(placed, constants, passes);
      double own = run.get().step().iterationSeconds();
      assertTrue(least <= own * (1 + 1e-12), bound + " " + searched + ": " + least + " > " + own);
    }
  }

  @Test
  void everyScheduleOfOneCopyIsOfItsKind() {
    Set<String> known =
        PassBound.all().stream().map(bound -> bound.entry().name()).collect(Collectors.toSet());
    for (String twice : List.of("dualpipe", "chimera", "gems")) {
      assertFalse(known.contains(twice), twice);
    }
    assertTrue(known.containsAll(Set.of("1f1b", "zb-h1", "zb-v", "v-min", "dualpipev", "hanayo")));
    for (PassBound bound : PassBound.all()) {
      boolean split =
          Set.of("gpipe", "1f1b", "1f1b-b", "interleaved", "looped-bfs", "1f1b-v", "hanayo")
              .contains(bound.entry().name());
      assertEquals(!split, bound.split(), bound.entry().name());
    }
  }
}
