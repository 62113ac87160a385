package dev.pipewright.runtime.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Which of a machine's processors each of its workers computes on. Left alone, Linux now and then
 * puts two that were woken up on one processor for some milliseconds while another has nothing to
 * do, and all who wait for them lose as much: {@code docs/decisions.md} has the figures.
 *
 * @param cores the processors that may be used, those of a core together; none where the system
 *     does not say
 */
record ProcessorShares(List<Set<Integer>> cores) {
  private static final String ALLOWED = "Cpus_allowed_list:";

  /** Shares of the processors that this process may use. */
  static ProcessorShares ofThisProcess() {
    return of(Path.of("/proc/self/status"), Path.of("/sys/devices/system/cpu"));
  }

  /**
   * @param status what Linux says of a process
   * @param topology its folder with one for each processor
   */
  static ProcessorShares of(Path status, Path topology) {
    try (Stream<String> lines = Files.lines(status)) {
      Set<Integer> allowed =
          lines
              .filter(line -> line.startsWith(ALLOWED))
              .findFirst()
              .map(line -> numbers(line.substring(ALLOWED.length())))
              .orElseGet(Set::of);
      Set<Set<Integer>> cores = new LinkedHashSet<>();
      for (int processor : allowed) {
        Path siblings = topology.resolve("cpu" + processor + "/topology/thread_siblings_list");
        Set<Integer> core = numbers(Files.readString(siblings));
        core.retainAll(allowed);
        cores.add(core);
      }
      return new ProcessorShares(List.copyOf(cores));
    } catch (IOException | NumberFormatException e) { // another system
      return new ProcessorShares(List.of());
    }
  }

  /** The numbers of a list such as {@code 0-3,8}. */
  private static Set<Integer> numbers(String list) {
    Set<Integer> numbers = new LinkedHashSet<>();
    for (String range : list.strip().split(",", -1)) {
      String[] ends = range.split("-", -1);
      int last = Integer.parseInt(ends[ends.length - 1]);
      IntStream.rangeClosed(Integer.parseInt(ends[0]), last).forEach(numbers::add);
    }
    return numbers;
  }

  /**
   * A worker's equal share, of whole cores if possible, as {@code taskset} reads it; empty where
   * there are fewer processors than threads that compute, or no other worker to share with.
   *
   * @param place among the workers of this machine, from 0
   * @param threads of each worker
   */
  Optional<String> of(int place, int workers, int threads) {
    long busy = (long) workers * threads;
    List<Set<Integer>> units = cores.size() >= busy ? cores : processors();
    if (workers == 1 || units.size() < busy) {
      return Optional.empty();
    }
    int first = place * units.size() / workers;
    int end = (place + 1) * units.size() / workers;
    return Optional.of(
        units.subList(first, end).stream()
            .flatMap(Set::stream)
            .map(String::valueOf)
            .collect(Collectors.joining(",")));
  }

  private List<Set<Integer>> processors() {
    return cores.stream().flatMap(Set::stream).map(Set::of).toList();
  }
}
