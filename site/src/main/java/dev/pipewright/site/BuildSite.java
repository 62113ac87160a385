package dev.pipewright.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Builds the site: gathers its pages, writes the generated ones, and runs javadoc and VitePress.
 */
public final class BuildSite {
  /** Files of the module that VitePress needs. */
  private static final List<String> SETUP =
      List.of("package.json", "package-lock.json", ".npmrc", ".vitepress/config.mjs");

  private BuildSite() {}

  /**
   * Writes {@code vitepress}, the sources, and {@code site}, the pages.
   *
   * @param args the project's root, and the folder of build outputs
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    Path root = Path.of(args[0]);
    Path vitepress = Path.of(args[1]).resolve("vitepress");
    Path content = vitepress.resolve("content");
    clear(content);
    clear(Path.of(args[1]).resolve("javadoc"));
    for (String file : SETUP) {
      Path to = vitepress.resolve(file);
      Files.createDirectories(to.resolveSibling(""));
      Files.write(to, Files.readAllBytes(root.resolve("site").resolve(file)));
    }
    SitePages.of(root).write(content);
    CommandPages.write(content.resolve("commands"));
    if (!Npm.present()) {
      System.out.println("The site was not built: npm is missing; install Node.js 18 or newer.");
      return;
    }
    Path api = Path.of(args[1]).resolve("javadoc");
    Process javadoc = Javadoc.start(root, api);
    boolean built = Npm.install(vitepress) && Npm.build(vitepress);
    if (javadoc.waitFor() != 0) {
      throw new IllegalStateException("javadoc failed; its messages are above");
    }
    if (built) {
      Files.move(api, Path.of(args[1]).resolve("site/javadoc"));
    }
  }

  private static void clear(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
    Files.createDirectories(folder);
  }
}
