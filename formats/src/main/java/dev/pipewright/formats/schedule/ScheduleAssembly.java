package dev.pipewright.formats.schedule;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;

/** A schedule while it is read from JSON: what the file says of it, in any order. */
final class ScheduleAssembly {
  private static final long MOST_PLACES = 8L << 20; // stages times micro-batches
  private static final int MOST_RANKS = 1 << 16;
  private static final int MOST_OPS = 1 << 21; // of all ranks

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
  private final List<FileProblem> contradictions = new ArrayList<>();
  private int size; // ops of all ranks

  String name = "";
  OptionalInt ranks = OptionalInt.empty();
  OptionalInt microBatches = OptionalInt.empty(); // of all chains
  OptionalInt chainMicroBatches = OptionalInt.empty();
  Optional<double[]> memoryCap = Optional.empty(); // one, or one per rank
  int memoryCapLine = 1;
  OptionalInt chunks = OptionalInt.empty();
  final List<List<Integer>> placement = new ArrayList<>(); // by chain: the ranks of its stages
  int placementLine = 1;
  final StatedFigures stated;

  ScheduleAssembly(Path file) {
    this.file = file;
    this.stated = new StatedFigures(file);
  }

  /** Begins the next rank. */
  void rank(int line) {
    if (programs.size() == MOST_RANKS) {
      throw BadInputException.at(
          file, line, "holds more ranks than can be checked; take at most " + MOST_RANKS);
    }
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
    if (size++ == MOST_OPS) {
      throw BadInputException.at(
          file, line, "holds more ops than can be checked; take at most %d".formatted(MOST_OPS));
    }
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
      throw BadInputException.at(
          file, 1, "holds no op; give what `schedule --json` wrote, with its \"ranks\"");
    }
    stated.count("stages", programs.size());
    while (programs.size() < ranks.orElse(0)) {
      programs.add(new Ops(0));
    }
    Placement where = placement.isEmpty() ? placementOfOps() : givenPlacement();
    long[][] packed = new long[programs.size()][];
    Arrays.setAll(packed, rank -> packed(programs.get(rank), where));
    int batches = batches(where, packed);
    if ((long) where.stages() * batches > MOST_PLACES) {
      throw BadInputException.at(
          file,
          1,
          "names %d stages and %d micro-batches, more than can be checked; take at most %d in all"
              .formatted(where.stages(), batches, MOST_PLACES));
    }
    return file(new Schedule(name, where, batches, packed));
  }

  private ScheduleFile file(Schedule schedule) {
    ScheduleFile.Times times =
        new ScheduleFile.Times(each(ops -> ops.starts), each(ops -> ops.ends));
    contradictions.addAll(stated.problems());
    ScheduleFile read =
        new ScheduleFile(
            file,
            schedule,
            places(),
            false,
            false,
            Optional.of(times),
            memoryCap.map(caps -> caps(caps, schedule.ranks())),
            chunks,
            contradictions);
    if (read.problems().isEmpty()) {
      stated.compare(ScheduleFigures.of(schedule, times, read.chunks()));
      stated.problems().forEach(read::add);
    }
    return read;
  }

  private double[] caps(double[] given, int ranks) {
    if (given.length != 1 && given.length != ranks) {
      throw BadInputException.at(
          file,
          memoryCapLine,
          "memory_cap holds %d numbers for %d ranks; give one, or one for each"
              .formatted(given.length, ranks));
    }
    double[] caps = new double[ranks];
    Arrays.setAll(caps, rank -> given[given.length == 1 ? 0 : rank]);
    return caps;
  }

  /** Micro-batches of a chain: where all stages run as many, those, whatever the file says. */
  private int batches(Placement where, long[][] packed) {
    int[] forward = new int[where.stages()];
    int most = 0;
    for (long[] program : packed) {
      for (long op : program) {
        Pass pass = Schedule.pass(op);
        boolean counts = pass != Pass.UPDATE && !pass.exchanges();
        most = Math.max(most, counts ? Schedule.microBatch(op) : 0);
        forward[Schedule.stage(op)] += pass == Pass.FORWARD ? 1 : 0;
      }
    }
    int each = forward[0];
    if (each > 0 && Arrays.stream(forward).allMatch(count -> count == each)) {
      stated.count("chain_micro_batches", each);
      stated.count("micro_batches", (long) each * where.chains());
      return each;
    }
    if (chainMicroBatches.isPresent()) {
      return chainMicroBatches.getAsInt();
    }
    boolean parts = microBatches.orElse(1) % where.chains() == 0;
    return microBatches.isPresent() && parts ? microBatches.getAsInt() / where.chains() : most + 1;
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
      throw BadInputException.at(
          file,
          1,
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
    contradictions.addAll(FileProblem.nowhere(file, rankOf, depth));
    Arrays.setAll(rankOf, stage -> Math.max(0, rankOf[stage]));
    return Placement.of(programs.size(), chains, rankOf);
  }

  /** The program with stages counted on from chain to chain. */
  private long[] packed(Ops ops, Placement where) {
    long[] packed = new long[ops.size];
    for (int i = 0; i < packed.length; i++) {
      long op = ops.packed[i];
      int stage = Schedule.stage(op);
      if (stage >= where.depth() || ops.chains[i] >= where.chains()) {
        throw BadInputException.at(
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
