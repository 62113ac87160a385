package dev.pipewright.planner;

import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.planner.partition.OnePath;
import dev.pipewright.schedule.search.ScheduleSearch;
import dev.pipewright.schedule.search.SearchDepth;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Searches pipelines of any length on all devices of a cluster that have equally many devices on
 * each rank: over schedules, parallelism within layers, micro-batches and sharded states. Layers
 * are first cut into stages of balanced time ({@link
 * dev.pipewright.planner.partition.BlockPartition}); the cuts of the best are then moved.
 *
 * <p>Each grid of devices and micro-batches is priced with the first schedule, in the order of the
 * work of a rank and the time until work reaches the last one. The most promising ones, without the
 * bubble, are then priced with all other schedules. Left out is what takes longer than a known plan
 * by its work alone. For a pipeline of S stages and M micro-batches one price takes O(S · M).
 */
final class EqualPipelines {
  private static final double WORTH = 1.1; // times the best, before cuts are moved
  private static final double LEAST_GAIN = 0.005; // of the best
  private static final double FILLED = 1.02; // times the best, where a schedule is made to fill
  private static final int FARTHER = 20; // times the grids, where none fits yet
  private static final int MANY_CHUNKS = 8;
  private static final int FEW_ROUNDS = 2; // micro-batches for each rank
  private static final int TOGETHER = 8; // pipelines that are priced without news of each other

  private final StageCosts costs;
  private final Request request;
  private final List<Choice> choices;
  private final SearchEffort effort;
  private final BooleanSupplier stop;
  private final PipelineOracle oracle; // estimates candidates
  private final PipelineOracle queues; // prices pipelines
  private final int[] path;
  private final Map<List<Object>, ScheduleSearch> known =
      Collections.synchronizedMap(new HashMap<>());
  private final List<PipelineDraft> drafts = new ArrayList<>();
  private final List<PricedPipeline> priced = new ArrayList<>();
  private final Map<Choice, ScheduleShape> shapes = new HashMap<>();
  private final CountedSchedules counted = new CountedSchedules();
  private final Set<List<Object>> tried = new HashSet<>(); // grids with other schedules
  private final Map<PipelineDraft, Double> fastest = new HashMap<>(); // seconds with any schedule
  private double limit = Double.POSITIVE_INFINITY; // seconds of the best that fits
  private @Nullable String refusal; // of a schedule, for some numbers

  private record Pair(PipelineDraft draft, Choice choice) {}

  private record Outcome(Optional<PricedPipeline> priced, Optional<String> refusal) {}

  private record Decided(PricedPipeline priced, Candidate candidate) {
    static final Comparator<Decided> FASTEST =
        Comparator.comparingDouble(each -> each.candidate().seconds());
  }

  /**
   * Of some schedules.
   *
   * @param choices the first one for all grids
   * @param stop asked now and then; then the best so far counts
   */
  EqualPipelines(
      StageCosts costs,
      Request request,
      List<Choice> choices,
      SearchEffort effort,
      BooleanSupplier stop) {
    this.costs = costs;
    this.request = request;
    this.choices = List.copyOf(choices);
    this.effort = effort;
    this.stop = stop;
    this.oracle = new PipelineOracle(costs, new PathFormula());
    this.queues = oracle.withQueues();
    this.path = OnePath.positions(costs.workload().chain());
    choices.forEach(choice -> shapes.put(choice, ScheduleShape.of(choice)));
  }

  /**
   * Adds the grids whose groups divide layers so.
   *
   * @param parallelism which the layers allow
   * @param sharding of states, where ranks have several replicas
   */
  void add(Parallelism parallelism, List<ZeroStage> sharding) {
    int chunks = choices.get(0).chunks();
    drafts.addAll(
        new PipelineDrafts(costs, request, chunks, oracle, path).of(parallelism, sharding));
  }

  /**
   * Prices pipelines and moves the cuts of the best.
   *
   * @param decides among them
   * @return the best first; those that fit
   */
  List<Candidate> search(Oracle decides) {
    ScheduleShape first = shape(choices.get(0));
    drafts.parallelStream().forEach(draft -> draft.bound(first));
    drafts.sort(
        Comparator.comparing((PipelineDraft draft) -> !draft.holds())
            .thenComparingDouble(draft -> draft.bound(first))
            .thenComparing(this::spansMachines)
            .thenComparingDouble(PipelineDraft::rough));
    price(drafts.stream().map(draft -> new Pair(draft, choices.get(0))).toList());
    List<PricedPipeline> grids = List.copyOf(priced);
    for (boolean searched : List.of(false, true)) { // searches last: bounds leave out more then
      priceOthers(grids, PricedPipeline::unfilled, searched);
      priceOthers(grids, PricedPipeline::work, searched);
      priceOthers(grids, searched ? this::fastest : PricedPipeline::folded, searched);
    }
    priced.sort(PricedPipeline.FASTEST);
    var few = priced.stream().limit(effort.decided()).filter(PricedPipeline::fits).toList();
    List<Decided> found = new ArrayList<>();
    int next = 0;
    while (next < few.size() && found.isEmpty()) { // one at least, however soon the search stops
      found.addAll(decided(few.get(next++), decides));
    }
    found.addAll(
        together(
            few.subList(next, few.size()),
            each -> stop.getAsBoolean() ? List.of() : decided(each, decides)));
    found.sort(Decided.FASTEST);
    var best = found.stream().limit(effort.improved()).map(Decided::priced).toList();
    found.addAll(
        together(
            best.stream().distinct().toList(),
            each -> improved(each, Collections.frequency(best, each), decides)));
    found.sort(Decided.FASTEST);
    return different(found.stream().map(Decided::candidate).toList());
  }

  /**
   * Prices the most promising grids with other schedules, too.
   *
   * @param promise seconds that a step may take
   * @param searched whether with schedules made for durations
   */
  private void priceOthers(
      List<PricedPipeline> grids, ToDoubleFunction<PricedPipeline> promise, boolean searched) {
    for (boolean fits : List.of(true, false)) { // which may with less in flight
      boolean nearest = !fits && Double.isFinite(limit);
      List<PricedPipeline> sorted =
          grids.stream()
              .filter(each -> each.draft().grid().ranks() > 1 && each.fits() == fits)
              .filter(each -> fits || isBelow(each.draft(), limit))
              .sorted(Comparator.comparingDouble(nearest ? EqualPipelines::peakBytes : promise))
              .toList();
      Set<List<Object>> places = new HashSet<>(); // those in another order share one
      for (PricedPipeline grid : sorted) {
        boolean few =
            places.size() < (searched ? effort.searched() : effort.grids())
                || places.contains(grid.withoutOrder());
        boolean promises = promise.applyAsDouble(grid) <= (searched ? FILLED : 1) * limit;
        if ((few || farther(places.size(), searched)) && promises && gains(grid.draft())) {
          List<Pair> pairs =
              choices.subList(1, choices.size()).stream()
                  .filter(choice -> choice.entry().needsDurations() == searched)
                  .filter(choice -> tried.add(List.of(grid.draft(), choice)))
                  .map(choice -> new Pair(grid.draft(), choice))
                  .toList();
          if (!pairs.isEmpty()) {
            places.add(grid.withoutOrder());
            price(pairs);
          }
        }
      }
    }
  }

  /** Seconds of a grid with the best schedule so far. */
  private double fastest(PricedPipeline grid) {
    return fastest.getOrDefault(grid.draft(), grid.seconds());
  }

  /** Whether a grid's plans may be better by what is worth a place among the few. */
  private boolean gains(PipelineDraft draft) {
    return !Double.isFinite(limit) || isBelow(draft, (1 - LEAST_GAIN) * limit);
  }

  /** While nothing fits, more grids are priced with schedules that follow from counts. */
  private boolean farther(int grids, boolean searched) {
    return !searched && !Double.isFinite(limit) && grids < FARTHER * effort.grids();
  }

  private boolean spansMachines(PipelineDraft draft) {
    return GridKinds.spansMachines(draft.grid().parallelism(), costs.workload().cluster());
  }

  private Optional<ScheduledCuts> balanced(PipelineDraft draft, Choice choice) {
    return ScheduledCuts.balanced(
        choice.entry(),
        draft.grid().of(choice.chunks()),
        draft.few(),
        costs,
        request,
        queues,
        path,
        known);
  }

  /** The plan for all micro-batches where it fits, and that with other sums of gradients. */
  private List<Decided> decided(PricedPipeline each, Oracle decides) {
    PipelinePlan plan = each.cuts().with(each.draft().batching()).plan();
    return OverlapChoice.of(plan, request, oracle, decides).stream()
        .map(candidate -> new Decided(each, candidate))
        .toList();
  }

  /** The same with other cuts, which are moved so many times. */
  private List<Decided> improved(PricedPipeline each, int times, Oracle decides) {
    List<Decided> found = new ArrayList<>();
    for (int i = 0; i < times && !stop.getAsBoolean(); i++) {
      each.cuts().improve(effort.moves(), stop);
      found.addAll(decided(each, decides));
    }
    return found;
  }

  /** What follows of several pipelines, on as many threads as there are, in their order. */
  private static List<Decided> together(
      List<PricedPipeline> pipelines, Function<PricedPipeline, List<Decided>> found) {
    return pipelines.parallelStream().map(found).flatMap(List::stream).toList();
  }

  /** Of plans that share out layers and states alike the best. */
  static List<Candidate> different(List<Candidate> sorted) {
    Set<List<Object>> seen = new HashSet<>();
    return sorted.stream()
        .filter(each -> seen.add(List.of(each.plan().summary(), each.plan().sharding())))
        .toList();
  }

  /**
   * Prices pipelines, a few at a time on as many threads as there are, and keeps them in order: the
   * outcome is the same however many there are.
   */
  private void price(List<Pair> pairs) {
    for (int from = 0; from < pairs.size(); from += TOGETHER) {
      List<Pair> some = pairs.subList(from, Math.min(from + TOGETHER, pairs.size()));
      List<Outcome> outcomes =
          some.parallelStream().filter(this::worthwhile).map(this::priced).toList();
      for (Outcome outcome : outcomes) {
        refusal = refusal == null ? outcome.refusal().orElse(null) : refusal;
        outcome.priced().ifPresent(this::keep);
      }
    }
  }

  private void keep(PricedPipeline each) {
    priced.add(each);
    each.draft().learn(each.cuts().plan());
    if (each.fits()) {
      limit = Math.min(limit, each.seconds());
      fastest.merge(each.draft(), each.seconds(), Math::min);
    }
  }

  private boolean worthwhile(Pair pair) {
    PipelineDraft draft = pair.draft();
    boolean ended = Double.isFinite(limit) && (stop.getAsBoolean() || !draft.holds());
    return !ended && differs(pair) && !hopeless(draft, pair.choice());
  }

  /** Whether it differs from the first schedule; very many stages need few micro-batches. */
  private boolean differs(Pair pair) {
    int ranks = pair.draft().grid().ranks();
    boolean usual =
        pair.choice().chunks() <= MANY_CHUNKS
            || pair.draft().batching().microBatches() <= FEW_ROUNDS * ranks;
    return pair.choice().equals(choices.get(0)) || (ranks > 1 && usual);
  }

  private Outcome priced(Pair pair) {
    PipelineDraft draft = pair.draft();
    Choice choice = pair.choice();
    try {
      Optional<ScheduledCuts> cuts = balanced(draft, choice);
      boolean first = choice.equals(choices.get(0)); // says which grids promise most
      int more = draft.batching().microBatches() - draft.few().microBatches();
      Worth worth = first ? Worth.ANY : new Worth(WORTH * limit, more);
      return new Outcome(cuts.map(made -> priced(pair, made, worth)), Optional.empty());
    } catch (IllegalArgumentException e) { // the schedule is not for these numbers
      return new Outcome(Optional.empty(), Optional.ofNullable(e.getMessage()));
    }
  }

  /** With a schedule that is searched for as far as it may become the best. */
  private PricedPipeline priced(Pair pair, ScheduledCuts cuts, Worth worth) {
    PricedPipeline priced = new PricedPipeline(pair.draft(), cuts);
    boolean searched = pair.choice().entry().needsDurations();
    for (SearchDepth depth : SearchDepth.values()) {
      if (searched || depth == SearchDepth.FULL) {
        cuts.price(worth, pair.draft().lacks(), depth);
        if (priced.seconds() > depth.gain() * limit) {
          break;
        }
      }
    }
    return priced;
  }

  /** Whether it takes longer than the best that fits, by what few micro-batches keep, too. */
  private boolean hopeless(PipelineDraft draft, Choice choice) {
    if (choice.equals(choices.get(0))) { // says which grids others should be tried on
      return !isBelow(draft, limit);
    }
    CountedSchedules.Facts facts =
        counted.of(choice, draft.grid().ranks(), draft.few().microBatches());
    return draft.keeping(shape(choice), facts, limit) >= limit;
  }

  private ScheduleShape shape(Choice choice) {
    return Objects.requireNonNull(shapes.get(choice));
  }

  /** Whether some schedule may be faster on a grid. */
  private boolean isBelow(PipelineDraft draft, double seconds) {
    return (draft.grid().ranks() == 1 ? choices.subList(0, 1) : choices)
        .stream().anyMatch(choice -> draft.bound(shape(choice), seconds) < seconds);
  }

  /** Seconds that no pipeline can be faster than; infinite where none fits. */
  double leastSeconds() {
    return new LeastStep(choices, shapes).of(drafts, limit);
  }

  /** Plans that were priced. */
  long plans() {
    return priced.stream().mapToLong(each -> each.cuts().priced()).sum();
  }

  /** Whether no pipeline could be priced. */
  boolean isEmpty() {
    return priced.isEmpty();
  }

  /** Why a schedule was not for some numbers. */
  Optional<String> refusal() {
    return Optional.ofNullable(refusal);
  }

  /**
   * The least bytes of the fullest device of a pipeline, whether it fits or not: of every grid with
   * the first schedule, and of the smallest of these with all others.
   */
  double leastPeakBytes() {
    Optional<PricedPipeline> smallest =
        drafts.parallelStream()
            .flatMap(draft -> priced(new Pair(draft, choices.get(0))).priced().stream())
            .min(Comparator.comparingDouble(EqualPipelines::peakBytes));
    return smallest.stream()
        .flatMap(each -> choices.stream().map(choice -> new Pair(each.draft(), choice)))
        .filter(this::differs)
        .flatMap(pair -> priced(pair).priced().stream())
        .mapToDouble(EqualPipelines::peakBytes)
        .min()
        .orElse(Double.POSITIVE_INFINITY);
  }

  private static double peakBytes(PricedPipeline each) {
    return each.cuts().estimate().peakBytes();
  }
}
