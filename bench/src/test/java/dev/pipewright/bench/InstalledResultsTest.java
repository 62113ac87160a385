package dev.pipewright.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.reproduce.PublishedResult;
import dev.pipewright.bench.reproduction.Reproduction;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.ServiceLoader;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What `pipewright reproduce` offers in a package. */
class InstalledResultsTest {
  private static List<PublishedResult> installed() {
    return ServiceLoader.load(PublishedResult.class).stream()
        .map(ServiceLoader.Provider::get)
        .toList();
  }

  @Test
  void everyReproductionHasANameOfItsOwnAndALine() {
    List<Reproduction> all = Reproduce.all();
    assertEquals(all.size(), new HashSet<>(all.stream().map(Reproduction::name).toList()).size());
    for (Reproduction one : all) {
      assertTrue(one.summary().length() > 15 && one.summary().endsWith("."), one.name());
    }
  }

  /** Packages have neither the runtime nor JMH. */
  @Test
  void noInstalledResultLiesInAPackageOfTheRuntimeOrOfJmh() {
    assertTrue(installed().size() > 20, "too few: " + installed().size());
    for (PublishedResult one : installed()) {
      String name = one.getClass().getPackageName();
      assertTrue(!name.endsWith(".runtime") && !name.endsWith(".jmh"), name);
    }
  }

  @Test
  void thePageListsEachWithWhatItNeeds() throws IOException {
    String page = Files.readString(Path.of("../docs/reproductions.md"));
    List<String> listed =
        Pattern.compile("(?m)^\\| `pipewright reproduce ([a-z0-9-]+)[^|]*\\|[^|]*\\| ([^|]*) \\|$")
            .matcher(page)
            .results()
            .map(row -> row.group(1) + ": " + row.group(2))
            .toList();
    List<String> offered =
        installed().stream()
            .map(one ->
                one.name() + ": " + (one.needs().isEmpty() ? "–" : String.join(", ", one.needs())))
            .toList();
    assertEquals(offered, listed);
  }
}
