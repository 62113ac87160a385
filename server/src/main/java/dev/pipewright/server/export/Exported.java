package dev.pipewright.server.export;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * What {@code export} made of a plan.
 *
 * @param command that does the same, with the program's name
 * @param sentences that it says: what the target cannot say, and notes
 * @param files that it wrote, by name; none where the target cannot say the plan
 */
public record Exported(String command, List<String> sentences, Map<String, byte[]> files) {
  private static final String NEAREST = "; --nearest exports it";

  public Exported {
    sentences = List.copyOf(sentences);
    files = Map.copyOf(files);
  }

  /** The same in other words. */
  Exported with(UnaryOperator<String> words) {
    Map<String, byte[]> others = new HashMap<>(files);
    others.replaceAll((name, content) ->
        words
            .apply(new String(content, StandardCharsets.ISO_8859_1))
            .getBytes(StandardCharsets.ISO_8859_1));
    return new Exported(command, sentences.stream().map(words).toList(), others);
  }

  /** Whether the target cannot say the plan, but one like it. */
  public boolean hasNearest() {
    return files.isEmpty() && sentences.stream().anyMatch(each -> each.endsWith(NEAREST));
  }

  /** The names of the files in order. */
  public List<String> names() {
    return files.keySet().stream().sorted().toList();
  }

  public Optional<byte[]> file(String name) {
    return Optional.ofNullable(files.get(name));
  }

  /** The text of a file that there is. */
  public String text(String name) {
    return new String(file(name).orElseThrow(), StandardCharsets.UTF_8);
  }
}
