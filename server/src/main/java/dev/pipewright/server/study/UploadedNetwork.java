package dev.pipewright.server.study;

import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.server.store.StudyStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * The {@code config.json} of Hugging Face that a browser sent as the network of a study. It is kept
 * with the study and lies on disk only while a command reads it.
 *
 * @param name as command lines say it
 */
public record UploadedNetwork(String name, String text) {
  /** The most that a file may have; those of Hugging Face have some kilobytes. */
  public static final int MOST_BYTES = 1 << 20;

  /** Its name among the files of a study. */
  private static final String KEPT = "network.json";

  private static final String USUAL = "config.json";
  private static final String FORMAT = "hugging-face";
  private static final Pattern FOLDERS = Pattern.compile("^.*[/\\\\]", Pattern.DOTALL);
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,59}[.]json");

  /** What reads the file under its path. */
  public interface Work<T> {
    T on(String path) throws IOException;
  }

  /** A file that was sent; throws {@link BadInputException} where it is no such configuration. */
  public static UploadedNetwork of(String sentName, byte[] content) {
    String last = FOLDERS.matcher(sentName).replaceFirst("");
    String name = NAME.matcher(last).matches() ? last : USUAL;
    if (content.length > MOST_BYTES) {
      throw new BadInputException(
          "file: has more than %,d bytes; send a config.json of Hugging Face"
              .formatted(MOST_BYTES));
    }
    UploadedNetwork network =
        new UploadedNetwork(name, new String(content, StandardCharsets.UTF_8));
    network.lend(path -> {
      try {
        ModelFiles.described(Path.of(path), OptionalInt.empty(), Optional.of(FORMAT));
        return path;
      } catch (BadInputException e) {
        throw new BadInputException("file: " + network.named(String.valueOf(e.getMessage()), path));
      }
    });
    return network;
  }

  /** That of a study in the store; empty where its network has a name. */
  public static Optional<UploadedNetwork> kept(StudyStore store, String id) {
    return store
        .file(id, KEPT)
        .flatMap(content ->
            store
                .find(id)
                .map(study ->
                    new UploadedNetwork(
                        StudyRequest.network(study.command()),
                        new String(content, StandardCharsets.UTF_8))));
  }

  /** Whether a word of a command line, where its network stands, is a file's name. */
  static boolean isName(String word) {
    return NAME.matcher(word).matches();
  }

  /** Has work done with the path of a copy, which is deleted afterwards. */
  public <T> T lend(Work<T> work) {
    try {
      Path folder = Files.createTempDirectory("pipewright-network-");
      try {
        return work.on(Files.writeString(folder.resolve(name), text).toString());
      } finally {
        CommandRun.delete(folder);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A text of our commands with the file's name for the path of the copy. */
  public String named(String words, String path) {
    return words.replace(path, name);
  }

  /** The same of a file in any encoding. */
  byte[] named(byte[] content, String path) {
    return named(new String(content, StandardCharsets.ISO_8859_1), path)
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  /** How the store keeps it. */
  void keep(Map<String, byte[]> files) {
    files.put(KEPT, text.getBytes(StandardCharsets.UTF_8));
  }
}
