package dev.pipewright.planner.madpipe;

import dev.pipewright.planner.madpipe.PlacedPattern.Placed;
import dev.pipewright.planner.recompute.TradeOffs;
import dev.pipewright.planner.recompute.TradeOffs.Choice;
import dev.pipewright.schedule.periodic.Discipline;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Which layers of an allocation's stages run again so that all devices hold what a period asks for.
 *
 * <p>No stage holds fewer batches than its group of 1F1B* (O. Beaumont et al., <i>Pipelined Model
 * Parallelism</i>, Euro-Par 2021, theorem 3). A device which those exceed lets the layers of one of
 * its stages run again that gives up all the rest at the least time ({@link TradeOffs}), or where
 * none can, all that the cheapest per byte has to give, and so on. That lengthens stages and may
 * raise groups, so it is repeated until nothing changes. With one stage on a device its choice is
 * the best there is; with several it is a heuristic that fails only where nothing fits.
 */
final class PatternRecomputation {
  private final PeriodicProblem problem;
  private final LayerChain chain;
  private final TradeOffs tradeOffs;
  private final Discipline discipline;
  private final double period;
  private final int more;

  private PatternRecomputation(
      PeriodicProblem problem, Discipline discipline, double period, int more) {
    this.problem = problem;
    this.discipline = discipline;
    this.period = period;
    this.more = more;
    chain = problem.chain();
    tradeOffs = problem.tradeOffs();
  }

  /**
   * The allocation with as few layers as are needed that run again; empty where the period is too
   * short for them, or nothing helps.
   *
   * @param more batches that stages hold beyond their groups where devices have several
   */
  static Optional<Allocation> of(
      Allocation allocation, Discipline discipline, double period, int more) {
    return new PatternRecomputation(allocation.problem(), discipline, period, more)
        .relieved(allocation);
  }

  private Optional<Allocation> relieved(Allocation kept) {
    int[] most = new int[kept.stages().size()];
    Allocation now = kept;
    while (now.busiest() <= period) {
      boolean same = true;
      int[] held = now.held(discipline, period);
      for (int stage = 0; stage < most.length; stage++) {
        int wanted = held[stage] + (kept.shares(stage) ? more : 0);
        same &= wanted <= most[stage];
        most[stage] = Math.max(most[stage], wanted);
      }
      if (same) {
        return Optional.of(now);
      }
      List<Placed> stages = new ArrayList<>(kept.stages());
      for (int device = 0; device < problem.devices(); device++) {
        if (!relieve(stages, device, most)) {
          return Optional.empty();
        }
      }
      now = kept.with(stages);
    }
    return Optional.empty();
  }

  /** Whether the stages of a device fit, of which layers run again from now on. */
  private boolean relieve(List<Placed> stages, int device, int[] held) {
    List<Integer> open = new ArrayList<>();
    for (int stage = 0; stage < stages.size(); stage++) {
      if (stages.get(stage).device() == device) {
        open.add(stage);
      }
    }
    int[] own = open.stream().mapToInt(stage -> stage).toArray();
    for (double excess = excess(stages, own, held); excess > 0; ) {
      int best = cheapest(stages, open, held, excess);
      if (best < 0) {
        return false;
      }
      Placed now = stages.get(best);
      double room = bytes(now, held[best]) - excess;
      Optional<Choice> enough = enough(now, held[best], room);
      stages.set(best, with(now, enough.or(() -> smallest(now, held[best])).orElseThrow()));
      open.remove(Integer.valueOf(best));
      excess = excess(stages, own, held);
    }
    return true;
  }

  /** The stage that gives up the excess at the least time; else all it can, by time per byte. */
  private int cheapest(List<Placed> stages, List<Integer> open, int[] held, double excess) {
    int best = -1;
    double least = Double.POSITIVE_INFINITY;
    for (int stage : open) {
      Placed placed = stages.get(stage);
      double room = bytes(placed, held[stage]) - excess;
      double seconds = enough(placed, held[stage], room).map(Choice::extraSeconds).orElse(least);
      if (seconds < least) {
        least = seconds;
        best = stage;
      }
    }
    if (best >= 0) {
      return best;
    }
    for (int stage : open) {
      Placed placed = stages.get(stage);
      double price =
          smallest(placed, held[stage])
              .map(smallest -> secondsPerByte(placed, smallest, held[stage]))
              .orElse(least);
      if (price < least) {
        least = price;
        best = stage;
      }
    }
    return best;
  }

  private Optional<Choice> enough(Placed stage, int held, double bytes) {
    double room = bytes - chain.stateBytes(stage.first(), stage.end());
    return tradeOffs.choice(stage.first(), stage.end(), held, room);
  }

  private Optional<Choice> smallest(Placed stage, int held) {
    double bytes = tradeOffs.leastBytes(stage.first(), stage.end(), held);
    return bytes < Double.POSITIVE_INFINITY
        ? Optional.of(tradeOffs.smallest(stage.first(), stage.end(), held))
        : Optional.empty();
  }

  private double secondsPerByte(Placed kept, Choice smallest, int held) {
    double saved = bytes(kept, held) - bytes(with(kept, smallest), held);
    return saved > 0 ? smallest.extraSeconds() / saved : Double.POSITIVE_INFINITY;
  }

  private static Placed with(Placed stage, Choice fewer) {
    return new Placed(stage.first(), stage.end(), stage.device(), Optional.of(fewer));
  }

  private double excess(List<Placed> stages, int[] own, int[] held) {
    double all = Arrays.stream(own).mapToDouble(s -> bytes(stages.get(s), held[s])).sum();
    return all - problem.capacityBytes();
  }

  private double bytes(Placed stage, int held) {
    StageLoad load = PlacedPattern.load(chain, stage);
    return load.stateBytes() + held * load.activationBytes();
  }
}
