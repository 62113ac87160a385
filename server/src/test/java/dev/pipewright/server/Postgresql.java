package dev.pipewright.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** A PostgreSQL of the system's package in a folder of its own, on a free loopback port. */
final class Postgresql implements AutoCloseable {
  private static final Path ALL = Path.of("/usr/lib/postgresql");

  private final Path folder;
  private final int port;

  static boolean isHere() {
    return Files.isDirectory(ALL) && programs().isPresent();
  }

  private static Optional<Path> programs() {
    try (Stream<Path> versions = Files.list(ALL)) {
      return versions
          .map(version -> version.resolve("bin"))
          .filter(bin -> Files.isExecutable(bin.resolve("initdb")))
          .max(Comparator.naturalOrder());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  Postgresql() throws IOException {
    folder = Files.createTempDirectory("pipewright-postgresql-");
    if (isRoot()) { // whom it refuses
      run(List.of("chown", "postgres", folder.toString()));
    }
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    as("initdb", "--auth=trust", "--username=postgres", "--no-sync", "-D", folder + "/data");
    as(
        "pg_ctl",
        "-D",
        folder + "/data",
        "-w",
        "-l",
        folder + "/log",
        "-o",
        "-h 127.0.0.1 -p %d -k %s -F".formatted(port, folder),
        "start");
  }

  String url() {
    return "jdbc:postgresql://127.0.0.1:%d/postgres".formatted(port);
  }

  /** The environment that names the user. */
  Map<String, String> user() {
    return Map.of("PIPEWRIGHT_DATABASE_USER", "postgres");
  }

  private static boolean isRoot() {
    return System.getProperty("user.name").equals("root");
  }

  private static void as(String program, String... args) throws IOException {
    List<String> line = new ArrayList<>();
    if (isRoot()) {
      line.addAll(List.of("runuser", "-u", "postgres", "--"));
    }
    line.add(programs().orElseThrow().resolve(program).toString());
    line.addAll(List.of(args));
    run(line);
  }

  private static void run(List<String> line) throws IOException {
    Process process =
        new ProcessBuilder(line)
            .directory(Path.of("/tmp").toFile())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      if (process.waitFor() != 0) {
        throw new IllegalStateException("failed: " + String.join(" ", line));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() throws IOException {
    as("pg_ctl", "-D", folder + "/data", "-m", "immediate", "stop");
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
