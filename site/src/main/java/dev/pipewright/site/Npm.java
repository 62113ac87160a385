package dev.pipewright.site;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Node's package manager, which installs and runs VitePress. */
final class Npm {
  /**
   * Errors of a registry that cannot be reached or lacks a package: not the fault of the sources.
   */
  private static final Pattern UNREACHABLE =
      Pattern.compile("ENOTFOUND|ECONN\\w+|EAI_AGAIN|E?TIMEDOUT|ENOTCACHED|E40[134]|E5\\d\\d");

  private Npm() {}

  /** Whether it is on the path. */
  static boolean present() {
    String path = System.getenv().getOrDefault("PATH", "");
    return Arrays.stream(path.split(System.getProperty("path.separator"), -1))
        .flatMap(folder -> Stream.of("npm", "npm.cmd").map(Path.of(folder)::resolve))
        .anyMatch(Files::isExecutable);
  }

  /**
   * Installs what the lock file says, unless it is there; returns whether it is. Says in a sentence
   * that packages cannot be had; throws for any other failure.
   */
  static boolean install(Path folder) throws IOException, InterruptedException {
    Path lock = folder.resolve("package-lock.json");
    Path done = folder.resolve("node_modules/installed-lock.json");
    if (Files.exists(done) && Files.mismatch(lock, done) < 0) {
      return true;
    }
    Process npm =
        new ProcessBuilder("npm", "ci", "--ignore-scripts", "--prefer-offline")
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    String output = new String(npm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (npm.waitFor() == 0) {
      Files.copy(lock, done);
      return true;
    }
    Matcher why = UNREACHABLE.matcher(output);
    if (!why.find()) {
      throw new IllegalStateException("npm ci failed: " + output);
    }
    System.out.println(
        "The site was not built: npm cannot download VitePress (%s); the next build tries again."
            .formatted(why.group()));
    return false;
  }

  /** Builds the pages; a dead link is a failure. Returns true. */
  static boolean build(Path folder) throws IOException, InterruptedException {
    int status =
        new ProcessBuilder("npm", "run", "--silent", "build")
            .directory(folder.toFile())
            .inheritIO()
            .start()
            .waitFor();
    if (status != 0) {
      throw new IllegalStateException("VitePress failed; its messages are above");
    }
    return true;
  }
}
