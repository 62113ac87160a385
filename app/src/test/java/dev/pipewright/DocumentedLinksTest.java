package dev.pipewright;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Links between the pages of the project lead to files and headings that exist. */
class DocumentedLinksTest {
  private static final Path ROOT = Path.of("..");

  /** A link's target, perhaps with a heading, that is no address on the web. */
  private static final Pattern LINK =
      Pattern.compile("]\\((?!https?:)([^)#\\s]*)(?:#([^)\\s]+))?\\)");

  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");

  private static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>();
    for (String page :
        List.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SKILL.md", "bench/README.md")) {
      pages.add(ROOT.resolve(page));
    }
    for (String folder : List.of("docs", "bench/results")) {
      try (Stream<Path> files = Files.list(ROOT.resolve(folder))) {
        files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(pages::add);
      }
    }
    return pages;
  }

  /** A heading's anchor, as GitHub makes it. */
  private static String anchor(String heading) {
    return heading.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-');
  }

  private static boolean leads(Path page, MatchResult link) throws IOException {
    Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1)).normalize();
    if (!Files.exists(target)) {
      return false;
    }
    return link.group(2) == null
        || HEADING
            .matcher(Files.readString(target))
            .results()
            .anyMatch(heading -> anchor(heading.group(1)).equals(link.group(2)));
  }

  @Test
  void everyLinkLeadsToAFileAndAHeading() throws IOException {
    List<String> broken = new ArrayList<>();
    int links = 0;
    for (Path page : pages()) {
      for (MatchResult link : LINK.matcher(Files.readString(page)).results().toList()) {
        links++;
        if (!leads(page, link)) {
          broken.add(page.getFileName() + ": " + link.group());
        }
      }
    }
    assertEquals(List.of(), broken);
    assertTrue(links > 60, "too few links: " + links);
  }
}
