package dev.pipewright.formats.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.CollectiveTiming.Kind;
import dev.pipewright.profile.LinkFit;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Other people's measurements: constants by size tell them within a few per cent. */
class ReferenceTimingsTest {
  private static List<CollectiveTiming> read(String name, Optional<String> machine) {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(folder), "measured", name);
    assumeTrue(Files.exists(file), "no reference measurement " + file);
    return CollectiveTimings.read(
            file, new TimingSelection(Optional.empty(), OptionalInt.empty(), machine))
        .timings();
  }

  @Test
  void allReduceOnTwoNodesOfEight() {
    List<CollectiveTiming> timings = read("nccl-tests-all-reduce-h100-2x8.txt", Optional.empty());
    assertEquals(62, timings.size());
    assertEquals(new CollectiveTiming(Kind.ALL_REDUCE, 16, 8, 135.8 / 1e6), timings.get(0));
    LinkFit fit = LinkFit.of(timings);
    assertTrue(fit.lineQuality().meanError() > 0.2, fit.toString());
    assertTrue(fit.piecesQuality().meanError() < 0.02, fit.toString());
    assertTrue(fit.piecesQuality().largestError() < 0.2, fit.toString());
    // the published bus bandwidth of 8 GiB, 338 GB/s, is 2(p−1)/p · m/t: one step's rate
    assertEquals(338e9, fit.pieces().bandwidth().value(), 0.03 * 338e9);
  }

  @ParameterizedTest
  @CsvSource({"a100, 0.011, 0.025", "v100, 0.007, 0.014"})
  void allReduceInsideANode(String machine, double pieces, double line) {
    List<CollectiveTiming> timings = read("allreduce-nvlink.csv", Optional.of(machine));
    assertEquals(924, timings.size());
    var fits = LinkFit.byDevices(timings);
    assertEquals(List.of(2, 3, 4, 5, 6, 7, 8), List.copyOf(fits.keySet()));
    double pieceSum = 0;
    double lineSum = 0;
    for (LinkFit fit : fits.values()) {
      assertTrue(fit.piecesQuality().meanError() <= pieces, fit.toString());
      assertTrue(fit.lineQuality().meanError() <= line, fit.toString());
      pieceSum += fit.piecesQuality().meanError();
      lineSum += fit.lineQuality().meanError();
    }
    assertTrue(pieceSum < 0.5 * lineSum, pieceSum + " " + lineSum);
  }
}
