package dev.pipewright.solver.bayes;

import dev.pipewright.planner.memory.Balance;
import dev.pipewright.planner.memory.McapExact;
import dev.pipewright.planner.memory.StagePeak;
import dev.pipewright.planner.memory.TieBreak;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * mCAP-BO: looks for the partition with the smallest peak by Bayesian optimisation over where it
 * cuts, in a fixed number of predictions.
 *
 * <p>Source: mCAP by H. Dreuning et al., as described in CAPTURE, §II: "uses Bayesian optimization
 * to navigate the search space and find the (near) optimal partitioning in a fixed number of
 * iterations". Departs: their program optimises the percentages of the layers that are left for
 * each device and asks about random ones; this one takes the places of the cuts, and asks about
 * random partitions and those near the best few, always for the one with the largest expected
 * improvement that was not predicted yet. The exact bound of {@link McapExact}, which costs less
 * than a single step here, says how far the result is from the optimum.
 *
 * <p>The same seed gives the same answer everywhere.
 */
public final class McapBayesian {
  /** The planner's name. */
  public static final String NAME = "mcap-bo";

  private static final int RANDOM = 256; // partitions of each step that are drawn blindly
  private static final int BEST_FEW = 3; // predicted ones whose neighbours are looked at
  private static final int FARTHEST = 3; // layers by which a neighbour's cuts move
  private static final int DRAWS = 20; // in search of one that was not predicted yet

  private final StagePeak peaks;
  private final int layers;
  private final int stages;
  private final SplittableRandom random;
  private final Set<List<Integer>> known = new HashSet<>();
  private final List<Trial> trials = new ArrayList<>();

  /** A partition by its cuts, and the peak that the predictor gives. */
  private record Trial(int[] cuts, double peak) {}

  /**
   * How long to search.
   *
   * @param initial partitions that are drawn blindly at first
   * @param iterations predictions in all
   */
  public record Settings(int initial, int iterations, long seed) {
    /** As many as the authors' program: 100 predictions, the first 30 drawn blindly. */
    public static final Settings USUAL = new Settings(30, 100, 1);

    public Settings {
      Check.that(
          initial >= 1 && iterations >= initial,
          "some partitions are drawn first: initial=%d, iterations=%d",
          initial,
          iterations);
    }
  }

  private McapBayesian(StagePeak peaks, int layers, int stages, long seed) {
    this.peaks = peaks;
    this.layers = layers;
    this.stages = stages;
    this.random = new SplittableRandom(seed);
  }

  /**
   * The best of the partitions that were predicted. Throws where none exists.
   *
   * @param stop asked before each prediction but the first; from the first yes on none follows
   */
  public static Balance of(
      StagePeak peaks, int layers, int stages, Settings settings, BooleanSupplier stop) {
    Balance exact = McapExact.of(peaks, layers, stages, TieBreak.NONE, stop);
    McapBayesian search = new McapBayesian(peaks, layers, stages, settings.seed());
    search.run(settings, stop);
    int[] sizes = search.sizes(search.ranked().get(0).cuts);
    double[] bytes = peaks.bytes(sizes);
    boolean possible = Arrays.stream(bytes).max().orElseThrow() < Double.POSITIVE_INFINITY;
    return new Balance(
        NAME,
        possible ? sizes : exact.sizes(),
        possible ? bytes : exact.bytes(),
        exact.lowerBound(),
        possible ? Optional.empty() : exact.runnerUp(),
        search.trials.size());
  }

  private void run(Settings settings, BooleanSupplier stop) {
    while (trials.size() < settings.iterations()) {
      if (!trials.isEmpty() && stop.getAsBoolean()) {
        return;
      }
      Optional<int[]> next = trials.size() < settings.initial() ? blind() : promising();
      if (next.isEmpty()) {
        return; // all partitions are known, or so it seems
      }
      predict(next.get());
    }
  }

  private void predict(int[] cuts) {
    known.add(key(cuts));
    double peak = Arrays.stream(peaks.bytes(sizes(cuts))).max().orElseThrow();
    trials.add(new Trial(cuts, peak));
  }

  private static List<Integer> key(int[] cuts) {
    return Arrays.stream(cuts).boxed().toList();
  }

  private int[] sizes(int[] cuts) {
    int[] sizes = new int[stages];
    for (int stage = 0; stage < stages; stage++) {
      int end = stage < cuts.length ? cuts[stage] : layers;
      sizes[stage] = end - (stage == 0 ? 0 : cuts[stage - 1]);
    }
    return sizes;
  }

  /** A random partition that was not predicted yet, each as likely as any other. */
  private Optional<int[]> blind() {
    for (int draw = 0; draw < DRAWS; draw++) {
      int[] cuts = drawn();
      if (!known.contains(key(cuts))) {
        return Optional.of(cuts);
      }
    }
    return neighbours().stream().findFirst();
  }

  /** Floyd's way to draw a set. */
  private int[] drawn() {
    Set<Integer> chosen = new HashSet<>();
    for (int last = layers - stages + 1; last < layers; last++) {
      int place = random.nextInt(1, last + 1);
      chosen.add(chosen.contains(place) ? last : place);
    }
    return chosen.stream().mapToInt(cut -> cut).sorted().toArray();
  }

  private Optional<int[]> promising() {
    GaussianProcess process = process();
    double best = ranked().get(0).peak;
    List<int[]> candidates = neighbours();
    for (int draw = 0; draw < RANDOM; draw++) {
      int[] cuts = drawn();
      if (!known.contains(key(cuts))) {
        candidates.add(cuts);
      }
    }
    Optional<int[]> chosen = Optional.empty();
    double most = -1;
    for (int[] cuts : candidates) {
      double improvement = process.at(point(cuts)).expectedImprovement(best);
      if (improvement > most) {
        most = improvement;
        chosen = Optional.of(cuts);
      }
    }
    return chosen;
  }

  /** Impossible partitions count as half as large again as the largest. */
  private GaussianProcess process() {
    double largest = 0;
    for (Trial trial : trials) {
      largest = trial.peak < Double.POSITIVE_INFINITY ? Math.max(largest, trial.peak) : largest;
    }
    double instead = 1.5 * largest;
    double[][] points = trials.stream().map(trial -> point(trial.cuts)).toArray(double[][]::new);
    double[] values = trials.stream().mapToDouble(trial -> Math.min(trial.peak, instead)).toArray();
    return GaussianProcess.of(points, values);
  }

  private double[] point(int[] cuts) {
    return Arrays.stream(cuts).mapToDouble(cut -> (double) cut / layers).toArray();
  }

  /** The smallest peak first; of equals the one that was predicted first. */
  private List<Trial> ranked() {
    List<Trial> sorted = new ArrayList<>(trials);
    sorted.sort((a, b) -> Double.compare(a.peak, b.peak));
    return sorted;
  }

  /** The best few with a run of their cuts moved alike, not predicted yet. */
  private List<int[]> neighbours() {
    List<int[]> found = new ArrayList<>();
    Set<List<Integer>> seen = new HashSet<>(known);
    for (Trial trial : ranked().subList(0, Math.min(BEST_FEW, trials.size()))) {
      for (int from = 0; from < trial.cuts.length; from++) {
        for (int to = from; to < trial.cuts.length; to++) {
          for (int by = -FARTHEST; by <= FARTHEST; by++) {
            int[] cuts = trial.cuts.clone();
            for (int cut = from; cut <= to; cut++) {
              cuts[cut] += by;
            }
            if (valid(cuts) && seen.add(key(cuts))) {
              found.add(cuts);
            }
          }
        }
      }
    }
    return found;
  }

  private boolean valid(int[] cuts) {
    int before = 0;
    for (int cut : cuts) {
      if (cut <= before || cut >= layers) {
        return false;
      }
      before = cut;
    }
    return true;
  }
}
