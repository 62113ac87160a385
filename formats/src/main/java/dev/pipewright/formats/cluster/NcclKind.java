package dev.pipewright.formats.cluster;

import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.profile.CollectiveTiming.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which collective rows of nccl-tests are of. The program's name says so where the log has it; else
 * the reduction, the root and the ratio of bus bandwidth to algorithm bandwidth do, which their
 * {@code doc/PERFORMANCE.md} defines: {@code 2(n−1)/n} for an all-reduce, {@code (n−1)/n} for its
 * halves and an all-to-all, 1 for a broadcast, a reduction to a root and a message.
 *
 * @param kind empty where it is none that is fitted
 * @param word what it is called
 * @param other another kind with the same marks, where there is one whose fit differs
 */
record NcclKind(Optional<Kind> kind, String word, Optional<Kind> other) {
  private static final Map<String, Kind> PROGRAMS =
      Map.of(
          "all_reduce", Kind.ALL_REDUCE,
          "all_gather", Kind.ALL_GATHER,
          "reduce_scatter", Kind.REDUCE_SCATTER,
          "alltoall", Kind.ALL_TO_ALL,
          "broadcast", Kind.BROADCAST,
          "reduce", Kind.REDUCE,
          "sendrecv", Kind.POINT_TO_POINT);

  /** Ratios that are this close are one. */
  private static final double SAME = 0.05;

  /** A kind that has the marks of the rows, and its ratio. */
  private record Candidate(Optional<Kind> kind, String word, double ratio) {}

  private static Candidate candidate(Kind kind, double ratio) {
    return new Candidate(Optional.of(kind), EnumWords.word(kind), ratio);
  }

  /** The program of nccl-tests by its name without {@code _perf}. */
  static NcclKind ofProgram(String program) {
    Kind kind = PROGRAMS.get(program);
    return kind == null
        ? new NcclKind(Optional.empty(), program, Optional.empty())
        : of(kind, Optional.empty());
  }

  private static NcclKind of(Kind kind, Optional<Kind> other) {
    return new NcclKind(Optional.of(kind), EnumWords.word(kind), other);
  }

  /**
   * What the rows themselves say; empty where that is nothing.
   *
   * @param rows of one collective, at least one
   * @param wanted the collective that the user named; chosen where the marks allow it
   */
  static Optional<NcclKind> ofRows(List<NcclRow> rows, int devices, Optional<Kind> wanted) {
    List<Candidate> candidates = candidates(rows.get(0), devices);
    NcclRow.Half fastest = fastest(rows);
    List<Candidate> near = new ArrayList<>();
    for (Candidate candidate : candidates) {
      if (agrees(fastest, candidate.ratio())) {
        near.add(candidate);
      }
    }
    boolean clear =
        near.stream().allMatch(each -> Math.abs(each.ratio() / near.get(0).ratio() - 1) < SAME);
    if (near.isEmpty() || !clear) {
      return candidates.stream()
          .filter(each -> wanted.isPresent() && each.kind().equals(wanted))
          .findFirst()
          .map(each -> of(wanted.orElseThrow(), Optional.empty()));
    }
    Optional<Candidate> asked =
        near.stream().filter(each -> wanted.isPresent() && each.kind().equals(wanted)).findFirst();
    Candidate chosen = asked.orElse(near.get(0));
    return Optional.of(
        new NcclKind(
            chosen.kind(),
            chosen.word(),
            asked.isPresent() ? Optional.empty() : differing(chosen, near)));
  }

  /** A collective among others than a message, or the other way round. */
  private static Optional<Kind> differing(Candidate chosen, List<Candidate> near) {
    return chosen
        .kind()
        .flatMap(own ->
            near.stream()
                .flatMap(each -> each.kind().stream())
                .filter(kind -> kind.isCollective() != own.isCollective())
                .findFirst());
  }

  /** The likeliest first. */
  private static List<Candidate> candidates(NcclRow row, int devices) {
    double share = (devices - 1.0) / devices;
    if (row.isRooted()) {
      return row.reduces()
          ? List.of(candidate(Kind.REDUCE, 1))
          : List.of(
              candidate(Kind.BROADCAST, 1),
              new Candidate(Optional.empty(), "gather or scatter", share));
    }
    return row.reduces()
        ? List.of(
            candidate(Kind.ALL_REDUCE, 2 * share),
            candidate(Kind.REDUCE_SCATTER, share),
            candidate(Kind.POINT_TO_POINT, 1))
        : List.of(
            candidate(Kind.ALL_GATHER, share),
            candidate(Kind.ALL_TO_ALL, share),
            new Candidate(Optional.empty(), "hypercube", 1));
  }

  /** The half of a row with the highest rate, in which rounding matters least. */
  private static NcclRow.Half fastest(List<NcclRow> rows) {
    return rows.stream()
        .flatMap(row -> row.halves().stream())
        .max(
            Comparator.comparingDouble(
                half -> Double.isNaN(half.algorithmRate()) ? 0 : half.algorithmRate()))
        .orElseThrow();
  }

  /** Whether bandwidths that were rounded to two decimals, or one from 1,000 on, can be these. */
  private static boolean agrees(NcclRow.Half half, double ratio) {
    double rounding = half.busRate() < 1_000 ? 0.005 : 0.5;
    return Math.abs(half.busRate() - ratio * half.algorithmRate())
        <= rounding * (1 + ratio) + 1e-3 * half.busRate();
  }
}
