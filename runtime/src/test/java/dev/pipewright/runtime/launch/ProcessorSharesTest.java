package dev.pipewright.runtime.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessorSharesTest {
  @TempDir Path folder;

  /**
   * @param cores the list that the system has for each processor
   */
  private ProcessorShares on(String allowed, String... cores) throws IOException {
    for (int processor = 0; processor < cores.length; processor++) {
      Path topology = folder.resolve("cpu" + processor + "/topology");
      Files.createDirectories(topology);
      Files.writeString(topology.resolve("thread_siblings_list"), cores[processor] + "\n");
    }
    Path status = folder.resolve("status");
    Files.writeString(
        status,
        "Name:\tjava\nCpus_allowed:\tff\nCpus_allowed_list:\t" + allowed + "\nMems_allowed:\t1\n");
    return ProcessorShares.of(status, folder);
  }

  private static List<Optional<String>> all(ProcessorShares shares, int workers, int threads) {
    return IntStream.range(0, workers).mapToObj(i -> shares.of(i, workers, threads)).toList();
  }

  private static List<Optional<String>> lists(String... lists) {
    return Stream.of(lists).map(Optional::of).toList();
  }

  @Test
  void eachWorkerHasWholeCores() throws IOException {
    ProcessorShares shares = on("0-7", "0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7");
    assertEquals(lists("0,4,1,5", "2,6,3,7"), all(shares, 2, 1));
    assertEquals(lists("0,4,1,5", "2,6,3,7"), all(shares, 2, 2));
    assertEquals(lists("0,4", "1,5", "2,6,3,7"), all(shares, 3, 1));
  }

  @Test
  void orHalvesOfCoresWhereThereAreNotEnough() throws IOException {
    ProcessorShares shares = on("0-3", "0-1", "0-1", "2-3", "2-3");
    assertEquals(lists("0", "1", "2", "3"), all(shares, 4, 1));
    assertEquals(lists("0,1", "2,3"), all(shares, 2, 2));
  }

  @Test
  void onlyWhatItsUserLeftToIt() throws IOException {
    ProcessorShares shares = on("1,3", "0-1", "0-1", "2-3", "2-3");
    assertEquals(lists("1", "3"), all(shares, 2, 1));
  }

  @Test
  void moreWorkersThanProcessorsGoWhereTheSystemPutsThem() throws IOException {
    assertEquals(Optional.empty(), on("0-1", "0", "1").of(0, 3, 1));
    assertEquals(Optional.empty(), on("0-1", "0", "1").of(1, 2, 2));
  }

  @Test
  void whoIsAloneHasAll() throws IOException {
    assertEquals(Optional.empty(), on("0-1", "0", "1").of(0, 1, 1));
  }

  @Test
  void otherSystemsSayNothing() throws IOException {
    assertEquals(Optional.empty(), on("").of(0, 2, 1));
    assertEquals(Optional.empty(), on("all", "0", "1").of(0, 2, 1));
    Path absent = folder.resolve("absent");
    assertEquals(Optional.empty(), ProcessorShares.of(absent, folder).of(0, 2, 1));
  }
}
