package dev.pipewright.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** The Javadoc of what programs may use: the exported packages of core and formats. */
final class Javadoc {
  private Javadoc() {}

  /** Starts the running JDK's javadoc on the sources below the project's root. */
  static Process start(Path root, Path out) throws IOException {
    String libraries =
        Arrays.stream(
                System.getProperty("java.class.path")
                    .split(System.getProperty("path.separator"), -1))
            .filter(entry -> !Path.of(entry).toAbsolutePath().startsWith(root))
            .filter(entry -> !entry.contains("pipewright-"))
            .collect(Collectors.joining(System.getProperty("path.separator")));
    Files.createDirectories(out);
    return new ProcessBuilder(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "javadoc").toString(),
                "-J-XX:TieredStopAtLevel=1",
                "-quiet",
                "-notimestamp",
                "-Xdoclint:none",
                "-d",
                out.toString(),
                "--module-path",
                libraries,
                "--module-source-path",
                "dev.pipewright.core=" + root.resolve("core/src/main/java"),
                "--module-source-path",
                "dev.pipewright.formats=" + root.resolve("formats/src/main/java"),
                "--module",
                "dev.pipewright.core,dev.pipewright.formats"))
        .inheritIO()
        .start();
  }
}
