package dev.pipewright.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Which files of the project are pages or figures of the site, and where they lie there. Links
 * between them follow; of a link to any other file of the project the text remains.
 */
final class SitePages {
  private static final Map<String, String> SINGLE =
      Map.of(
          "README.md", "overview.md",
          "CHANGELOG.md", "changelog.md",
          "CONTRIBUTING.md", "contributing.md",
          "SKILL.md", "skill.md",
          "bench/README.md", "results/index.md",
          "site/index.md", "index.md");

  /** What VitePress copies as it is to the root of the site. */
  private static final String PUBLIC = "public/";

  private static final Map<String, String> FOLDERS =
      Map.of(
          "docs", "",
          "docs/images", "images/",
          "docs/schemas", PUBLIC + "schemas/",
          "bench/results", "results/");

  /** The text of a link, its target up to a heading, and the heading, if any. */
  private static final Pattern LINK =
      Pattern.compile("(!?)\\[([^]\\[]*)]\\((?!https?:|mailto:)([^)#\\s]+)(#[^)\\s]+)?\\)");

  private final Path root;
  private final Map<String, String> places = new TreeMap<>();

  private SitePages(Path root) {
    this.root = root;
  }

  /** Finds the files below the project's root. */
  static SitePages of(Path root) throws IOException {
    SitePages pages = new SitePages(root);
    SINGLE.forEach((file, place) -> {
      if (Files.exists(root.resolve(file))) {
        pages.places.put(file, place);
      }
    });
    for (Map.Entry<String, String> folder : FOLDERS.entrySet()) {
      try (Stream<Path> files = Files.list(root.resolve(folder.getKey()))) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          String name = file.getFileName().toString();
          pages.places.put(folder.getKey() + "/" + name, folder.getValue() + name);
        }
      }
    }
    return pages;
  }

  /** Where the project's files lie on the site, both with slashes from their root. */
  Map<String, String> places() {
    return places;
  }

  /** Writes pages and figures to a folder, with links of the site. */
  void write(Path content) throws IOException {
    for (Map.Entry<String, String> place : places.entrySet()) {
      Path from = root.resolve(place.getKey());
      Path to = content.resolve(place.getValue());
      Files.createDirectories(to.resolveSibling(""));
      if (place.getKey().endsWith(".md")) {
        Files.writeString(to, page(place.getKey(), Files.readString(from)));
      } else {
        Files.copy(from, to);
      }
    }
  }

  /** The text of a page with links of the site. */
  String page(String file, String text) {
    return LINK.matcher(text)
        .replaceAll(link -> {
          Optional<String> target = target(file, link.group(3));
          String heading = link.group(4) == null ? "" : link.group(4);
          String changed =
              target
                  .map(to -> "%s[%s](%s%s)".formatted(link.group(1), link.group(2), to, heading))
                  .orElse(link.group(2));
          return Matcher.quoteReplacement(changed);
        });
  }

  /** A link of a file's page to the page of another, both relative to where they lie. */
  private Optional<String> target(String file, String link) {
    Path named = Path.of(file).resolveSibling(link).normalize();
    List<String> candidates = List.of(slashes(named), slashes(named) + "/index.md");
    Path here = Path.of("/", places.getOrDefault(file, file));
    if (slashes(named).equals("bench/results")) {
      return Optional.of(relative(here, "results/index.md"));
    }
    return candidates.stream()
        .filter(places::containsKey)
        .findFirst()
        .map(found -> relative(here, places.getOrDefault(found, found)));
  }

  private static String relative(Path here, String there) {
    String link =
        slashes(
            here.resolveSibling("").relativize(Path.of("/", there.replaceFirst("^" + PUBLIC, ""))));
    return link.startsWith(".") ? link : "./" + link;
  }

  private static String slashes(Path path) {
    return path.toString().replace('\\', '/');
  }
}
