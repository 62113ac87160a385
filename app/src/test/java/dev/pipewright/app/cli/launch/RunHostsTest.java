package dev.pipewright.app.cli.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunHostsTest {
  @TempDir Path run;

  private static Map<String, String> nodes(String list) {
    return Map.of("SLURM_JOB_NODELIST", list);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "n1 | n1",
        "n[1-3] | n1 n2 n3",
        "n[08-10,12],gpu-7 | n08 n09 n10 n12 gpu-7",
        "r[1-2]n[1-2] | r1n1 r1n2 r2n1 r2n2",
        "n[1- | ''",
        "n[a-b] | ''",
        "n1,,n2 | ''",
        "n[1-999999999] | ''",
      })
  void hostsAreListedAsSlurmDoes(String list, String hosts) {
    List<String> expected = hosts.isEmpty() ? List.of() : Arrays.asList(hosts.split(" ", -1));
    assertEquals(expected, HostList.all(list));
  }

  @Test
  void hostsThatAreLeftKeepTheirRanks() {
    RunHosts.keep(nodes("n[1-4]"), 4, run);
    assertEquals(List.of(1, 3), RunHosts.left(nodes("n[2,4]"), 4, 2, Optional.of(run)));
    assertEquals(
        List.of(3, 0, 1), RunHosts.left(nodes("n4,m1,m2"), 4, 3, Optional.of(run)), "new hosts");
  }

  @Test
  void theFirstRanksAreTakenWhereHostsAreNotKnown() {
    assertEquals(List.of(0, 1), RunHosts.left(nodes("n[2,4]"), 4, 2, Optional.of(run)));
    RunHosts.keep(Map.of(), 4, run);
    assertFalse(Files.exists(run.resolve("hosts.txt")), "nothing to keep");
    RunHosts.keep(nodes("n[1-4]"), 4, run);
    assertEquals(List.of(0, 1), RunHosts.left(Map.of(), 4, 2, Optional.of(run)));
    assertEquals(List.of(0, 1), RunHosts.left(nodes("n[2,4]"), 4, 2, Optional.empty()));
  }
}
