package dev.pipewright.server.inspect;

import java.util.List;
import java.util.Map;

/**
 * What is known of an uploaded file, or of a layout.
 *
 * @param name of the file, or the layout; as the user gave it
 * @param kind what it is, like {@code a schedule}
 * @param valid whether the command that answered it takes it
 * @param answer what that command prints; empty where the file is refused
 * @param sentences what is wrong with it, or to note
 * @param files pictures and pages by name
 * @param next command lines to go on with
 */
public record Inspection(
    String name,
    String kind,
    boolean valid,
    String answer,
    List<String> sentences,
    Map<String, byte[]> files,
    List<String> next) {
  private static final List<String> PICTURES = List.of("timeline.svg", "schedule.svg");

  public Inspection {
    sentences = List.copyOf(sentences);
    next = List.copyOf(next);
  }

  /** The name of its picture; empty where it has none. */
  public String picture() {
    return PICTURES.stream().filter(files::containsKey).findFirst().orElse("");
  }

  /** Bytes that it takes. */
  long size() {
    return answer.length() * 2L + files.values().stream().mapToLong(each -> each.length).sum();
  }
}
