package dev.pipewright.bench.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** More cases: {@code -Dfuzz.cases=10000}, or {@code Reproduce fuzz}. */
class CampaignTest {
  private static final int CASES = Integer.getInteger("fuzz.cases", 1000);

  @TempDir Path folder;

  @Test
  void noDamagedFileCommandLineOrMessageEndsInAnInternalFailure() {
    Campaign campaign = new Campaign(folder);
    List<Campaign.Finding> findings =
        campaign.targets().parallelStream()
            .flatMap(target -> campaign.run(target, CASES).stream())
            .toList();
    assertEquals(
        "", findings.stream().map(Campaign.Finding::toString).collect(Collectors.joining("\n")));
  }

  @Test
  void theSameCaseIsTheSameEachTime() {
    byte[] seed = "one: 1\ntwo: [2, 3]\n".getBytes(java.nio.charset.StandardCharsets.UTF_8);
    for (int number = 0; number < 100; number++) {
      assertEquals(
          new String(new Mutation(number).of(seed), java.nio.charset.StandardCharsets.UTF_8),
          new String(new Mutation(number).of(seed), java.nio.charset.StandardCharsets.UTF_8));
    }
  }
}
