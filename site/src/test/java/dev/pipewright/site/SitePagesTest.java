package dev.pipewright.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SitePagesTest {
  private static final Path ROOT = Path.of("..");

  private static final Pattern LINK = Pattern.compile("link: '/([a-z][a-z/-]*?)/?'");

  @Test
  void everyPageIsInTheNavigationAndNothingElse() throws IOException {
    Set<String> linked = new TreeSet<>();
    String setup = Files.readString(Path.of(".vitepress/config.mjs"));
    LINK.matcher(setup).results().forEach(link -> linked.add(link.group(1)));
    Set<String> pages = new TreeSet<>(Set.of("commands")); // generated
    for (String place : SitePages.of(ROOT).places().values()) {
      if (place.endsWith(".md") && !place.equals("index.md")) {
        pages.add(place.contains("/") ? place.split("/", -1)[0] : place.replace(".md", ""));
      }
    }
    assertEquals(pages, linked);
  }

  @Test
  void linksLeadToPagesOfTheSiteAndTextRemainsOfOthers() throws IOException {
    SitePages pages = SitePages.of(ROOT);
    assertEquals(
        "![a](./images/schedules.svg) [b](./results/figure3.md#rows) [c](./overview.md) d [e](#f)"
            + " [g](https://h) [i](./schemas/plan.schema.json)",
        pages.page(
            "docs/guide.md",
            "![a](images/schedules.svg) [b](../bench/results/figure3.md#rows) [c](../README.md)"
                + " [d](../examples/PlanGpt.java) [e](#f) [g](https://h)"
                + " [i](schemas/plan.schema.json)"));
    assertEquals(
        "[a](../decisions.md) [b](./index.md) [c](./index.md) [d](./table4.svg)",
        pages.page(
            "bench/results/table4.md",
            "[a](../../docs/decisions.md) [b](../README.md) [c](../results) [d](table4.svg)"));
  }

  @Test
  void whatIsWrittenHasEveryPageAndFigure(@TempDir Path folder) throws IOException {
    SitePages pages = SitePages.of(ROOT);
    pages.write(folder);
    try (Stream<Path> files = Files.walk(folder)) {
      assertEquals(pages.places().size(), files.filter(Files::isRegularFile).count());
    }
    assertTrue(pages.places().size() > 80, "too few files: " + pages.places());
  }

  /** So that the site loads nothing from elsewhere, and the lock file names no registry. */
  @Test
  void nothingComesFromElsewhere() throws IOException {
    assertEquals(-1, Files.readString(Path.of("package-lock.json")).indexOf("\"resolved\""));
    assertEquals(-1, Files.readString(Path.of(".vitepress/config.mjs")).indexOf("http"));
  }
}
