package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.units.Check;
import java.util.Arrays;

/**
 * One forward, one backward that never flushes: each stage updates its weights behind its backward
 * passes, and keeps the version that a micro-batch's forward pass used for its backward pass. A
 * stage may have replicas, which take micro-batches in turn.
 *
 * <p>Paper: D. Narayanan et al., <i>PipeDream: Generalized Pipeline Parallelism for DNN
 * Training</i>, SOSP 2019, doi:10.1145/3341301.3359646, §3.2 (1F1B-RR) and §3.3 (weight stashing).
 * Its minibatch is our micro-batch. Micro-batch {@code n} runs on replica n mod r of a stage with
 * {@code r}. With R ranks from a stage on, each of its replicas runs ⌈R/r⌉ forward passes ahead: at
 * the input stage the paper's NOAM. O(ops).
 *
 * <p>Replicas average their gradients as synchronous data parallelism does: of each round of
 * micro-batches, one for each replica, they are reduced once, and then each replica updates its
 * copy before its next forward pass. Rounds are the training steps of a stage: the paper's own
 * words leave open how often replicas meet. Training ends with a drain, so that it is finite.
 */
public final class PipeDream {
  /** The schedule's name. */
  public static final String NAME = "pipedream";

  private PipeDream() {}

  /** Without replicas. */
  public static Schedule of(int stages, int microBatches) {
    Check.that(stages >= 1, "a pipeline has stages: stages=%d", stages);
    int[] replicas = new int[stages];
    Arrays.fill(replicas, 1);
    return of(microBatches, replicas);
  }

  /**
   * Ranks are counted stage by stage. With L the least common multiple of the replicas' numbers
   * there are L chains, and micro-batch {@code n} is number n / L of chain n mod L.
   *
   * @param microBatches a multiple of L
   * @param replicas of each stage
   */
  public static Schedule of(int microBatches, int... replicas) {
    int chains = check(replicas);
    Check.that(
        microBatches >= 1 && microBatches % chains == 0,
        "replicas take micro-batches in turn, and all come round together after %d: micro_batches=%d is no multiple of it; take %d",
        chains,
        microBatches,
        (Math.max(microBatches, 1) + chains - 1L) / chains * chains);
    int depth = replicas.length;
    int[] rankOf = new int[Math.multiplyExact(chains, depth)];
    long[][] programs = new long[Arrays.stream(replicas).sum()][];
    int[] inFlight = versions(replicas);
    int first = 0; // rank of the stage's first replica
    for (int stage = 0; stage < depth; stage++) {
      for (int chain = 0; chain < chains; chain++) {
        rankOf[chain * depth + stage] = first + chain % replicas[stage];
      }
      for (int replica = 0; replica < replicas[stage]; replica++) {
        Turns turns = new Turns(stage, depth, chains, replica, replicas[stage]);
        programs[first + replica] = program(turns, microBatches / replicas[stage], inFlight[stage]);
      }
      first += replicas[stage];
    }
    Placement placement = Placement.of(first, chains, rankOf);
    return new Schedule(NAME, placement, microBatches / chains, programs);
  }

  /**
   * Versions of its weights that each replica of a stage keeps: one for each of its micro-batches
   * in flight, the newest among them.
   */
  public static int[] versions(int... replicas) {
    check(replicas);
    int[] versions = new int[replicas.length];
    int ranks = 0;
    for (int stage = replicas.length - 1; stage >= 0; stage--) {
      ranks += replicas[stage];
      versions[stage] = (ranks + replicas[stage] - 1) / replicas[stage];
    }
    return versions;
  }

  /** The least common multiple of the replicas' numbers. */
  private static int check(int[] replicas) {
    Check.that(replicas.length >= 1, "a pipeline has stages: stages=%d", replicas.length);
    int multiple = 1;
    for (int stage = 0; stage < replicas.length; stage++) {
      Check.that(
          replicas[stage] >= 1,
          "each stage has a replica: stage=%d, replicas=%d",
          stage,
          replicas[stage]);
      multiple = Math.multiplyExact(multiple / gcd(multiple, replicas[stage]), replicas[stage]);
    }
    return multiple;
  }

  private static int gcd(int a, int b) {
    return b == 0 ? a : gcd(b, a % b);
  }

  /** Which micro-batch comes to a replica in each round, and as which op. */
  private record Turns(int stage, int depth, int chains, int replica, int replicas) {
    void add(Program program, Pass pass, int round) {
      int microBatch = round * replicas + replica;
      boolean ofRound = pass == Pass.REDUCE || pass == Pass.UPDATE;
      int own = microBatch % chains * depth + stage;
      program.add(pass, own, ofRound ? round : microBatch / chains);
    }
  }

  private static long[] program(Turns turns, int rounds, int inFlight) {
    Program program = new Program(Math.multiplyExact(turns.replicas() > 1 ? 4 : 3, rounds));
    int ahead = Math.min(inFlight, rounds);
    for (int round = 0; round < ahead; round++) {
      turns.add(program, Pass.FORWARD, round);
    }
    for (int round = 0; round < rounds; round++) {
      turns.add(program, Pass.BACKWARD, round);
      if (turns.replicas() > 1) {
        turns.add(program, Pass.REDUCE, round);
      }
      turns.add(program, Pass.UPDATE, round);
      if (round + ahead < rounds) {
        turns.add(program, Pass.FORWARD, round + ahead);
      }
    }
    return program.packed();
  }
}
