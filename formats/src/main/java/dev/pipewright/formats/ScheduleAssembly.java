package dev.pipewright.formats;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.function.Function;

/** A schedule while it is read from JSON: what the file says of it, in any order. */
final class ScheduleAssembly {
  private static final long MOST_PLACES = 8L << 20; // stages times micro-batches

  /** A rank's ops; stages are counted in their chains. */
  private static final class Ops {
    private final int line;
    private long[] packed = new long[16];
    private int[] chains = new int[16];
    private double[] starts = new double[16];
    private double[] ends = new double[16];
    private int[] lines = new int[16];
    private int[] columns = new int[16];
    private int size;

    private Ops(int line) {
      this.line = line;
    }

    private void grow() {
      packed = Arrays.copyOf(packed, 2 * size);
      chains = Arrays.copyOf(chains, 2 * size);
      starts = Arrays.copyOf(starts, 2 * size);
      ends = Arrays.copyOf(ends, 2 * size);
      lines = Arrays.copyOf(lines, 2 * size);
      columns = Arrays.copyOf(columns, 2 * size);
    }
  }

  private final Path file;
  private final List<Ops> programs = new ArrayList<>();

  String name = "";
  OptionalInt ranks = OptionalInt.empty();
  OptionalInt microBatches = OptionalInt.empty(); // of all chains
  OptionalInt chainMicroBatches = OptionalInt.empty();
  OptionalDouble memoryCap = OptionalDouble.empty();
  OptionalInt chunks = OptionalInt.empty();
  final List<List<Integer>> placement = new ArrayList<>(); // by chain: the ranks of its stages
  int placementLine = 1;

  ScheduleAssembly(Path file) {
    this.file = file;
  }

  /** Begins the next rank. */
  void rank(int line) {
    programs.add(new Ops(line));
  }

  void op(
      Pass pass,
      int microBatch,
      int stage,
      int chain,
      double start,
      double end,
      int line,
      int column) {
    Ops ops = programs.get(programs.size() - 1);
    if (ops.size == ops.packed.length) {
      ops.grow();
    }
    ops.packed[ops.size] = Schedule.pack(pass, stage, microBatch);
    ops.chains[ops.size] = chain;
    ops.starts[ops.size] = start;
    ops.ends[ops.size] = end;
    ops.lines[ops.size] = line;
    ops.columns[ops.size] = column;
    ops.size++;
  }

  /** Makes the last op run together with the next. */
  void join() {
    Ops ops = programs.get(programs.size() - 1);
    ops.packed[ops.size - 1] = Schedule.joined(ops.packed[ops.size - 1]);
  }

  ScheduleFile finished() {
    if (programs.stream().allMatch(ops -> ops.size == 0)) {
      throw BadInputException.in(
          file, "holds no op; give what `schedule --json` wrote, with its \"ranks\"");
    }
    if (ranks.isPresent() && ranks.getAsInt() != programs.size()) {
      throw BadInputException.in(
          file,
          "says stages=%d but lists the ops of %d ranks; make them agree"
              .formatted(ranks.getAsInt(), programs.size()));
    }
    Placement where = placement.isEmpty() ? placementOfOps() : givenPlacement();
    int batches = batches(where.chains());
    if ((long) where.stages() * batches > MOST_PLACES) {
      throw BadInputException.in(
          file,
          "names %d stages and %d micro-batches, more than can be checked; take at most %d in all"
              .formatted(where.stages(), batches, MOST_PLACES));
    }
    long[][] packed = new long[programs.size()][];
    Arrays.setAll(packed, rank -> packed(programs.get(rank), where));
    return new ScheduleFile(
        file,
        new Schedule(name, where, batches, packed),
        places(),
        false,
        Optional.of(new ScheduleFile.Times(each(ops -> ops.starts), each(ops -> ops.ends))),
        memoryCap,
        chunks);
  }

  private int batches(int chains) {
    if (chainMicroBatches.isPresent()) {
      return chainMicroBatches.getAsInt();
    }
    if (microBatches.isPresent() && microBatches.getAsInt() % chains == 0) {
      return microBatches.getAsInt() / chains;
    }
    int most = 0;
    for (Ops ops : programs) {
      for (int i = 0; i < ops.size; i++) {
        Pass pass = Schedule.pass(ops.packed[i]);
        boolean counts = pass != Pass.UPDATE && !pass.exchanges();
        most = Math.max(most, counts ? Schedule.microBatch(ops.packed[i]) : 0);
      }
    }
    return most + 1;
  }

  private Placement givenPlacement() {
    int depth = placement.get(0).size();
    int[] rankOf = new int[depth * placement.size()];
    for (int chain = 0; chain < placement.size(); chain++) {
      if (placement.get(chain).size() != depth || depth == 0) {
        throw BadInputException.at(
            file,
            placementLine,
            "placement has %d stages in chain 0 and %d in chain %d; give each chain as many"
                .formatted(depth, placement.get(chain).size(), chain));
      }
      for (int stage = 0; stage < depth; stage++) {
        rankOf[chain * depth + stage] = existing(placement.get(chain).get(stage));
      }
    }
    return Placement.of(programs.size(), placement.size(), rankOf);
  }

  private int existing(int rank) {
    if (rank >= programs.size()) {
      throw BadInputException.at(
          file,
          placementLine,
          "placement names rank %d but there are ranks 0..%d; name one of those"
              .formatted(rank, programs.size() - 1));
    }
    return rank;
  }

  /** A stage belongs to the rank that first runs it. */
  private Placement placementOfOps() {
    int depth = 0;
    int chains = 0;
    for (Ops ops : programs) {
      for (int i = 0; i < ops.size; i++) {
        depth = Math.max(depth, Schedule.stage(ops.packed[i]) + 1);
        chains = Math.max(chains, ops.chains[i] + 1);
      }
    }
    if ((long) depth * chains > MOST_PLACES) {
      throw BadInputException.in(
          file,
          "names %d stages in %d directions, more than can be checked; take at most %d in all"
              .formatted(depth, chains, MOST_PLACES));
    }
    int[] rankOf = new int[depth * chains];
    Arrays.fill(rankOf, -1);
    for (int rank = 0; rank < programs.size(); rank++) {
      Ops ops = programs.get(rank);
      for (int i = 0; i < ops.size; i++) {
        int stage = ops.chains[i] * depth + Schedule.stage(ops.packed[i]);
        rankOf[stage] = rankOf[stage] < 0 ? rank : rankOf[stage];
      }
    }
    Arrays.setAll(rankOf, stage -> Math.max(0, rankOf[stage])); // of none: found missing
    return Placement.of(programs.size(), chains, rankOf);
  }

  /** The program with stages counted on from chain to chain. */
  private long[] packed(Ops ops, Placement where) {
    long[] packed = new long[ops.size];
    for (int i = 0; i < packed.length; i++) {
      long op = ops.packed[i];
      int stage = Schedule.stage(op);
      if (stage >= where.depth() || ops.chains[i] >= where.chains()) {
        throw ScheduleAction.wrong(
            file,
            ops.lines[i],
            ops.columns[i],
            "stage %d of chain %d is not in the placement; it has stages 0..%d of chains 0..%d"
                .formatted(stage, ops.chains[i], where.depth() - 1, where.chains() - 1));
      }
      int counted = ops.chains[i] * where.depth() + stage;
      packed[i] = Schedule.pack(Schedule.pass(op), counted, Schedule.microBatch(op));
      if (Schedule.isJoined(op)) {
        packed[i] = Schedule.joined(packed[i]);
      }
    }
    return packed;
  }

  private double[][] each(Function<Ops, double[]> what) {
    double[][] each = new double[programs.size()][];
    Arrays.setAll(
        each, rank -> Arrays.copyOf(what.apply(programs.get(rank)), programs.get(rank).size));
    return each;
  }

  private OpPlaces places() {
    int[][] lines = new int[programs.size()][];
    int[][] columns = new int[programs.size()][];
    for (int rank = 0; rank < lines.length; rank++) {
      lines[rank] = Arrays.copyOf(programs.get(rank).lines, programs.get(rank).size);
      columns[rank] = Arrays.copyOf(programs.get(rank).columns, programs.get(rank).size);
    }
    return new OpPlaces(programs.stream().mapToInt(ops -> ops.line).toArray(), lines, columns);
  }
}
