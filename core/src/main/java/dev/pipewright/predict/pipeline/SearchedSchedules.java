package dev.pipewright.predict.pipeline;

import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.PipelineParts;
import dev.pipewright.predict.transformer.PredictedRun;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerRun;
import dev.pipewright.predict.transformer.search.LayoutSurvey;
import dev.pipewright.predict.transformer.search.RankedLayout;
import dev.pipewright.predict.transformer.search.SearchSpace;
import dev.pipewright.predict.transformer.search.SearchedLayout;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The fastest layouts of a search under the other schedules of the catalogue that flush and hold
 * one copy of the network, with every number of chunks that goes with both. A search itself knows
 * the closed form of 1F1B, interleaved or not; other schedules have none that covers the uneven
 * ends of a pipeline, so {@link ScheduledTransformer} simulates them.
 *
 * <p>What is not simulated, and why it is safe: a layout under a schedule whose {@link PassBound}
 * makes a step longer than the tenth best so far. Schedules that are made for durations come last:
 * they take longest to make, and the tenth best is least by then. Of these, forms that spend time
 * to save memory are tried for layouts that {@linkplain ScheduleCatalog#roomierForm the roomier
 * form} does not fit.
 */
public final class SearchedSchedules {
  private static final int MOST = 10;
  private static final int TOGETHER = 4; // priced before the tenth best is looked at once more
  private static final double ROUNDING = 1 - 1e-9;
  private static final Set<String> SEARCHED = // by closed form
      Set.of(PipelinePolicy.A.scheduleName(), Interleaved.NAME);

  private final SearchSpace space;
  private final CalibratedConstants constants;
  private final Set<Fitting> fitting = new HashSet<>();

  private SearchedSchedules(SearchSpace space, CalibratedConstants constants) {
    this.space = space;
    this.constants = constants;
  }

  private record Fitting(SearchedLayout searched, String schedule) {}

  private record Candidate(SearchedLayout searched, ScheduleEntry entry, double leastSeconds) {
    boolean isSparing() {
      return ScheduleCatalog.roomierForm(entry.name()).isPresent();
    }
  }

  /**
   * The ten fastest that fit, the fastest first: the survey's best as they are, and under every
   * other schedule.
   */
  public static List<ScheduledLayout> best(LayoutSurvey survey, CalibratedConstants constants) {
    SearchedSchedules schedules = new SearchedSchedules(survey.space(), constants);
    List<ScheduledLayout> best = survey.best().stream().map(schedules::usual).toList();
    List<Candidate> rest = schedules.candidates(pipelines(survey.best()));
    while (!rest.isEmpty()) {
      double bar = best.size() < MOST ? Double.POSITIVE_INFINITY : best.get(MOST - 1).seconds();
      rest = rest.stream().filter(candidate -> candidate.leastSeconds <= bar).toList();
      int count = together(rest);
      List<ScheduledLayout> priced =
          rest.subList(0, count).parallelStream()
              .filter(schedules::isTried)
              .flatMap(candidate -> schedules.priced(candidate, bar).stream())
              .toList();
      priced.forEach(schedules::note);
      List<ScheduledLayout> all = new ArrayList<>(best);
      all.addAll(priced);
      all.sort(Comparator.comparingDouble(ScheduledLayout::seconds)); // stable
      best = List.copyOf(all.subList(0, Math.min(MOST, all.size())));
      rest = rest.subList(count, rest.size());
    }
    return best;
  }

  /** How many of the first candidates are priced together: none waits for another's memory. */
  private static int together(List<Candidate> rest) {
    int count = 0;
    while (count < Math.min(TOGETHER, rest.size())
        && rest.get(count).isSparing() == rest.get(0).isSparing()) {
      count++;
    }
    return count;
  }

  private boolean isTried(Candidate candidate) {
    return ScheduleCatalog.roomierForm(candidate.entry.name())
        .filter(name -> fitting.contains(new Fitting(candidate.searched, name)))
        .isEmpty();
  }

  private void note(ScheduledLayout found) {
    fitting.add(new Fitting(found.searched(), found.schedule()));
  }

  private ScheduledLayout usual(RankedLayout ranked) {
    SearchedLayout searched = ranked.searched();
    String name =
        searched.layout().interleave() > 1 ? Interleaved.NAME : PipelinePolicy.A.scheduleName();
    PredictedRun run = PredictedRun.of(space.choices(searched).run(), constants);
    return new ScheduledLayout(searched, name, run, ranked.seconds());
  }

  /** Layouts with several pipeline ranks, each once whatever its chunks. */
  private static List<SearchedLayout> pipelines(List<RankedLayout> ranked) {
    Set<SearchedLayout> found = new LinkedHashSet<>();
    for (RankedLayout one : ranked) {
      if (one.searched().layout().pipeline() > 1) {
        found.add(chunked(one.searched(), 1));
      }
    }
    return List.copyOf(found);
  }

  private static SearchedLayout chunked(SearchedLayout searched, int chunks) {
    TrainingLayout other = searched.layout().withInterleave(chunks);
    return new SearchedLayout(other, searched.recompute(), searched.offloadedLayers());
  }

  /** Schedules that counts decide first, of either kind those with the least seconds. */
  private List<Candidate> candidates(List<SearchedLayout> layouts) {
    List<Candidate> candidates = new ArrayList<>();
    for (PassBound bound : PassBound.all()) {
      if (!SEARCHED.contains(bound.entry().name())) {
        for (SearchedLayout searched : layouts) {
          for (int chunks : chunks(bound.entry())) {
            candidate(chunked(searched, chunks), bound).ifPresent(candidates::add);
          }
        }
      }
    }
    candidates.sort(
        Comparator.comparing((Candidate candidate) -> candidate.entry.needsDurations())
            .thenComparing(Candidate::isSparing)
            .thenComparingDouble(Candidate::leastSeconds));
    return candidates;
  }

  private List<Integer> chunks(ScheduleEntry entry) {
    List<Integer> searched = space.values().interleave();
    if (entry.fixedChunks()) {
      return searched.contains(entry.chunks()) ? List.of(entry.chunks()) : List.of();
    }
    return searched.stream().filter(chunks -> chunks > 1).toList();
  }

  /** Empty where the chunks do not go with the network. */
  private Optional<Candidate> candidate(SearchedLayout searched, PassBound bound) {
    try {
      TransformerRun run = bound.placed(space.choices(searched).run());
      double passes = bound.seconds(run.layout(), PipelineParts.of(run, constants));
      double seconds = ROUNDING * TransformerOracle.seconds(run, constants, passes);
      return Optional.of(new Candidate(searched, bound.entry(), seconds));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /**
   * Empty where it does not fit, the schedule does not go with the micro-batches, or one that
   * counts decide is slower than the bar. Of others it is of interest whether they fit, too.
   */
  private Optional<ScheduledLayout> priced(Candidate candidate, double bar) {
    double most = candidate.entry.needsDurations() ? Double.POSITIVE_INFINITY : bar / ROUNDING;
    try {
      TransformerRun run = space.choices(candidate.searched).run();
      return ScheduledTransformer.predict(run, candidate.entry, constants, most)
          .filter(found -> found.step().fits())
          .map(found ->
              new ScheduledLayout(
                  candidate.searched,
                  candidate.entry.name(),
                  found,
                  found.step().iterationSeconds()));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
