package dev.pipewright.server.inspect;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Beginning;
import dev.pipewright.formats.file.InputFile;
import dev.pipewright.formats.json.JsonFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.zip.GZIPInputStream;

/**
 * A first look at a file.
 *
 * @param zipped whether it is compressed with gzip
 * @param keys of its JSON object; empty for other files
 */
record Glance(Path file, boolean zipped, Set<String> keys) {
  /** What a file is that is of no kind, with the remedy. */
  static final String NOTHING =
      "nothing that is read here; give a model's config.json or profile, a cluster, a plan, a"
          + " schedule, a trace of PyTorch's profiler, or what nccl-tests print";

  private static final long MOST_UNPACKED = 128L << 20;
  private static final int GZIP = 0x1f;
  private static final int BUFFER = 1 << 16;

  /** Throws {@link BadInputException} for JSON that is none, and for what unpacks to too much. */
  static Glance of(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      if (in.read() == GZIP) {
        checkUnpacked(file);
        return new Glance(file, true, Set.of());
      }
    }
    if (Beginning.of(file).indexOf('\0') >= 0) {
      throw BadInputException.in(file, "is " + NOTHING);
    }
    boolean json = InputFile.first(file) == '{';
    return new Glance(file, false, json ? JsonFile.keys(file) : Set.of());
  }

  private static void checkUnpacked(Path file) throws IOException {
    try (InputStream in = new GZIPInputStream(Files.newInputStream(file), BUFFER)) {
      byte[] some = new byte[BUFFER];
      long bytes = 0;
      for (int read = in.read(some); read >= 0; read = in.read(some)) {
        bytes += read;
        if (bytes > MOST_UNPACKED) {
          throw BadInputException.in(
              file,
              "unpacks to more than %,d bytes; read it with the command line"
                  .formatted(MOST_UNPACKED));
        }
      }
    } catch (IOException e) {
      throw InputFile.unreadable(file, e);
    }
  }

  boolean has(String... all) {
    return keys.containsAll(Set.of(all));
  }
}
