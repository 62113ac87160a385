package dev.pipewright.runtime.launch;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the worker that keeps a run from going on. Those that wait for it make no progress either,
 * so what each says of itself decides:
 *
 * <ul>
 *   <li>one that does not answer at all has been stopped or is cut off;
 *   <li>one that answers, waits for no other and uses no processor hangs;
 *   <li>one that computes at the same op for far longer than at any before runs in circles. Its
 *       first step, which also compiles, and checkpoints and held-out samples take what they take;
 *   <li>where all wait, they wait for each other.
 * </ul>
 *
 * <p>Times are those during which the coordinator itself was running, so that a pause of all
 * together, as in a debugger or when a laptop sleeps, counts for nothing.
 */
final class Watch {
  /** Processor time, as a share of the patience, that shows a worker to compute. */
  private static final double BUSY_SHARE = 0.01;

  /** Processor time beyond it that the answers alone may take within the patience. */
  private static final long ANSWERS_NANOSECONDS = TimeUnit.MILLISECONDS.toNanos(150);

  /** More patience before a worker's first place: it waits for disks, and may unpack libraries. */
  private static final long STARTING_NANOSECONDS = TimeUnit.SECONDS.toNanos(60);

  private static final int TIMES_LONGER = 20;

  /**
   * A worker to end the run for.
   *
   * @param what a sentence about it
   */
  record Stall(int worker, String what) {}

  private static final class Seen {
    private long heard;
    private long moved; // or computed
    private long arrived; // at the op at which it is, or from waiting in it
    private long longest; // op that ended
    private long processorMilliseconds; // when it last moved
    private long firstStep = Long.MAX_VALUE;
    private boolean works; // its job has begun
    private @Nullable Pulse last;

    private boolean waits() {
      return last != null && last.waits();
    }

    private boolean starts() {
      return last == null || last.place().isEmpty();
    }

    private int waitingFor() {
      return last == null ? Pulse.NONE : last.waitingFor();
    }
  }

  private final List<Seen> all;
  private final long patience;

  /**
   * @param patience how long a worker may make no progress
   */
  Watch(int workers, Duration patience) {
    this.all = IntStream.range(0, workers).mapToObj(i -> new Seen()).toList();
    this.patience = patience.toNanos();
  }

  /** A worker has been given its job, and answers from here on. */
  void works(int worker, long now) {
    Seen seen = all.get(worker);
    seen.works = true;
    seen.heard = now;
    seen.moved = now;
    seen.arrived = now;
  }

  void heard(int worker, Pulse pulse, long now) {
    Seen seen = all.get(worker);
    Pulse before = seen.last;
    seen.last = pulse;
    seen.heard = now;
    if (before == null || pulse.waitingFor() != before.waitingFor()) {
      seen.arrived = now;
      move(seen, pulse, now);
    } else if (pulse.places() != before.places()) {
      if (isPass(before.place())) {
        seen.longest = Math.max(seen.longest, now - seen.arrived);
      }
      seen.arrived = now;
      move(seen, pulse, now);
    } else if (computed(seen, pulse) > BUSY_SHARE * patience + ANSWERS_NANOSECONDS) {
      move(seen, pulse, now);
    }
    pulse.place().ifPresent(at -> seen.firstStep = Math.min(seen.firstStep, at.step()));
  }

  private static long computed(Seen seen, Pulse pulse) {
    return TimeUnit.MILLISECONDS.toNanos(
        pulse.processorMilliseconds() - seen.processorMilliseconds);
  }

  private static void move(Seen seen, Pulse pulse, long now) {
    seen.moved = now;
    seen.processorMilliseconds = pulse.processorMilliseconds();
  }

  private static boolean isPass(Optional<Place> place) {
    return place.filter(at -> at.op() != Place.CHECKPOINT && at.op() != Place.HELD_OUT).isPresent();
  }

  /** A worker's position when it last answered. */
  Optional<Place> place(int worker) {
    return Optional.ofNullable(all.get(worker).last).flatMap(Pulse::place);
  }

  /** Whom to end the run for, if anyone. */
  Optional<Stall> stall(long now) {
    return silent(now).or(() -> hanging(now)).or(() -> circling(now)).or(() -> locked(now));
  }

  private Optional<Stall> silent(long now) {
    return first(seen -> seen.heard, seen -> now - seen.heard > patience)
        .map(worker ->
            new Stall(
                worker,
                "has not answered for %d s: it has been stopped, or is cut off"
                    .formatted(seconds(now - all.get(worker).heard))));
  }

  private Optional<Stall> hanging(long now) {
    return first(
            seen -> seen.moved,
            seen ->
                !seen.waits()
                    && now - seen.moved > patience + (seen.starts() ? STARTING_NANOSECONDS : 0))
        .map(worker ->
            new Stall(
                worker,
                "has made no progress for %d s: it neither computes nor waits for another worker"
                    .formatted(seconds(now - all.get(worker).moved))));
  }

  private Optional<Stall> circling(long now) {
    return first(
            seen -> seen.arrived,
            seen ->
                !seen.waits()
                    && isPassAfterTheFirstStep(seen)
                    && now - seen.arrived > patience + TIMES_LONGER * seen.longest)
        .map(worker ->
            new Stall(
                worker,
                "has made no progress for %d s: it computes, but none of its operations took so long before"
                    .formatted(seconds(now - all.get(worker).arrived))));
  }

  private static boolean isPassAfterTheFirstStep(Seen seen) {
    return seen.last != null
        && isPass(seen.last.place())
        && seen.last.place().orElseThrow().step() > seen.firstStep;
  }

  private Optional<Stall> locked(long now) {
    boolean allWait =
        all.stream().allMatch(seen -> seen.works && seen.waits() && now - seen.moved > patience);
    if (!allWait) {
      return Optional.empty();
    }
    return first(seen -> seen.moved, seen -> seen.waitingFor() >= 0)
        .map(worker ->
            new Stall(
                worker,
                "has waited for worker %d for %d s, as all workers wait for others"
                    .formatted(
                        all.get(worker).waitingFor(), seconds(now - all.get(worker).moved))));
  }

  /** The first since some time of those that work and that something is true of. */
  private Optional<Integer> first(ToLongFunction<Seen> since, Predicate<Seen> which) {
    return IntStream.range(0, all.size())
        .boxed()
        .filter(i -> all.get(i).works && which.test(all.get(i)))
        .min(Comparator.comparingLong(i -> since.applyAsLong(all.get(i))));
  }

  private static long seconds(long nanoseconds) {
    return TimeUnit.NANOSECONDS.toSeconds(nanoseconds);
  }
}
