package dev.pipewright.app.cli.launch;

import dev.pipewright.formats.file.BadInputException;
import java.util.ArrayList;
import java.util.List;

/**
 * One of the processes of a training run that a launcher has started with the same command.
 *
 * @param rank from 0 on; rank 0 coordinates
 * @param worldSize how many ranks there are
 * @param host where rank 0 runs; empty where there is only one rank
 * @param port where rank 0 listens
 * @param launcher which has said so, in words
 */
public record LaunchedRank(int rank, int worldSize, String host, int port, String launcher) {
  public LaunchedRank {
    if (worldSize < 1 || rank < 0 || rank >= worldSize) {
      throw new BadInputException(
          "--launcher env: %s says rank %d of %d ranks; ranks count from 0 to one less than their number"
              .formatted(launcher, rank, worldSize));
    }
  }

  /** Whether this process coordinates. */
  public boolean coordinates() {
    return rank == 0;
  }

  /** The address of rank 0. */
  public String coordinator() {
    return host + ":" + port;
  }

  /**
   * How many workers run in this rank: as many as in any other, but for a remainder that the first
   * ranks take.
   *
   * @throws BadInputException where a rank would have none
   */
  public int workersOf(int workers) {
    if (worldSize > workers) {
      throw new BadInputException(
          "--launcher env: %s starts %d ranks, but the run has %s; start at most as many ranks"
              .formatted(launcher, worldSize, workers == 1 ? "one worker" : workers + " workers"));
    }
    return workers / worldSize + (rank < workers % worldSize ? 1 : 0);
  }

  /**
   * What a plan's workers are divided into: the items of each rank, in order.
   *
   * @param items one for each worker
   */
  public static <T> List<List<T>> shares(List<T> items, int ranks) {
    List<List<T>> shares = new ArrayList<>();
    int first = 0;
    for (int rank = 0; rank < ranks; rank++) {
      int end = first + items.size() / ranks + (rank < items.size() % ranks ? 1 : 0);
      shares.add(List.copyOf(items.subList(first, end)));
      first = end;
    }
    return shares;
  }
}
