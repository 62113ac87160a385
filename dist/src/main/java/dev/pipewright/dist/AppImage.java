package dev.pipewright.dist;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/**
 * Makes the folder that all packages hold: a Java runtime of the modules that Pipewright uses, its
 * jars, an archive of their classes for a quick start, a launcher, manual pages and completions. It
 * runs from wherever it is copied to.
 */
public final class AppImage {
  /** What Pipewright and its libraries use of the JDK; the tests run every command's libraries. */
  private static final String MODULES =
      "java.base,java.logging,java.naming,java.sql,jdk.management,jdk.unsupported";

  /** The folder of what only {@code serve} uses, in that of all jars. */
  static final String SERVER = "server";

  static final String MAIN = "dev.pipewright.app.cli.Main";
  private static final String REHEARSAL = "dev.pipewright.app.cli.ClassDataWarmUp";

  /** Whether this Java keeps linked classes and profiles of methods, and not only classes' data. */
  static final boolean CACHED = Runtime.version().feature() >= 25;

  private final Path module;
  private final Path image;
  private final FileTime time;

  private AppImage(Path module, Path image, FileTime time) {
    this.module = module;
    this.image = image;
    this.time = time;
  }

  /**
   * Makes an image anew.
   *
   * @param args this module's folder, the image, and when its files were changed last: the archive
   *     fits jars of that time alone
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    AppImage made =
        new AppImage(Path.of(args[0]), Path.of(args[1]), FileTime.from(Instant.parse(args[2])));
    delete(made.image);
    made.runtime();
    made.copyAll();
    made.addShared();
    made.date();
    made.rehearse();
    made.date();
  }

  private static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private void runtime() throws IOException {
    Files.createDirectories(image);
    ToolProvider jlink =
        ToolProvider.findFirst("jlink")
            .orElseThrow(() -> new IllegalStateException("this JDK has no jlink; choose another"));
    int status =
        jlink.run(
            System.out,
            System.err,
            "--add-modules",
            MODULES,
            "--strip-debug",
            "--no-header-files",
            "--no-man-pages",
            "--output",
            image.resolve("runtime").toString());
    if (status != 0) {
      throw new IllegalStateException("jlink ended with status " + status + "; see above");
    }
  }

  private void copyAll() throws IOException {
    Path lib = Files.createDirectories(image.resolve("lib"));
    for (String part : List.of("core", "formats", "solver", "app", "bench")) {
      String jar = "pipewright-" + part + ".jar";
      copy(module.resolveSibling(part).resolve("target").resolve(jar), lib.resolve(jar));
    }
    copyFiles(module.resolveSibling("app/target/lib"), lib);
    Path server = lib.resolve(SERVER);
    copyFiles(module.resolveSibling("server/target/lib"), server);
    String pages = "pipewright-server.jar";
    copy(module.resolveSibling("server/target").resolve(pages), server.resolve(pages));
    copy(module.resolveSibling("app/src/main/launcher/start.sh"), lib.resolve("start.sh"));
    copy(module.resolveSibling("LICENSE"), image.resolve("LICENSE"));
    Path licences = Files.createDirectories(image.resolve("licences"));
    for (String list : List.of("THIRD-PARTY.txt", "sbom.json")) {
      copy(module.resolveSibling("app/target").resolve(list), licences.resolve(list));
      copy(module.resolveSibling("server/target").resolve(list), licences.resolve("serve-" + list));
    }
    copyFiles(module.resolve("src/main/image/licences"), licences);
    Path launcher = Files.createDirectories(image.resolve("bin")).resolve("pipewright");
    copy(module.resolve("src/main/image/bin/pipewright"), launcher);
    Files.setPosixFilePermissions(launcher, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Manual pages and completions, in the folders of /usr/share. */
  private void addShared() throws IOException, InterruptedException {
    Path share = image.resolve("share");
    copyFiles(module.resolve("target/man1"), share.resolve("man/man1"));
    complete("bash", share.resolve("bash-completion/completions/pipewright"));
    complete("fish", share.resolve("fish/vendor_completions.d/pipewright.fish"));
  }

  private void complete(String shell, Path script) throws IOException, InterruptedException {
    Files.createDirectories(script.getParent());
    Process run =
        new ProcessBuilder(image.resolve("bin/pipewright").toString(), "completion", shell)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .redirectOutput(script.toFile())
            .start();
    if (run.waitFor() != 0) {
      throw new IllegalStateException("no completion for " + shell + "; see above");
    }
  }

  /** Copies the files of a folder. */
  private static void copyFiles(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.toList()) {
        copy(file, to.resolve(file.getFileName()));
      }
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
  }

  private void date() throws IOException {
    try (Stream<Path> files = Files.walk(image)) {
      for (Path file : files.toList()) {
        Files.setLastModifiedTime(file, time);
      }
    }
  }

  /** Runs the commands that are used most and archives the classes that they load. */
  private void rehearse() throws IOException, InterruptedException {
    Path lib = image.resolve("lib");
    List<String> command = new ArrayList<>();
    command.add(image.resolve("runtime/bin/java").toString());
    command.add("-XX:+UseSerialGC");
    command.add(
        "-XX:%s=%s"
            .formatted(
                CACHED ? "AOTCacheOutput" : "ArchiveClassesAtExit",
                lib.resolve("classes.archive")));
    String classPath =
        String.join(":", jars(lib).stream().map(lib::resolve).map(Path::toString).toList());
    command.addAll(List.of("-Xlog:disable", "-cp", classPath, REHEARSAL));
    Process run =
        new ProcessBuilder(command)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    if (run.waitFor() != 0 || !Files.exists(lib.resolve("classes.archive"))) {
      throw new IllegalStateException("no archive of classes was made; run " + command);
    }
  }

  /** Flags of a Java that starts from an archive of the image. */
  static List<String> flags(String archive) {
    String kind = CACHED ? "AOTCache" : "SharedArchiveFile";
    return List.of("-XX:+UseSerialGC", "-XX:" + kind + "=" + archive, "-Xlog:disable");
  }

  /** The jars as the launcher lists them: in the order of their names' bytes. */
  static List<String> jars(Path lib) throws IOException {
    try (Stream<Path> files = Files.list(lib)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".jar"))
          .sorted()
          .toList();
    }
  }
}
