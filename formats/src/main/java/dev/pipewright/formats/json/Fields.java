package dev.pipewright.formats.json;

import java.util.List;
import java.util.Optional;

/** The members of an object in a file whose keys are all known. */
public record Fields(Node node) {
  /** The value of {@code key}; its absence is a mistake. */
  public Node required(String key) {
    Node value = node.members().get(key);
    if (value == null) {
      String where = node.place().isEmpty() ? "" : " in " + node.place();
      throw node.wrong("the key \"" + key + "\" is missing" + where + "; add it");
    }
    return value;
  }

  /** The value of {@code key}; empty when it is absent or null. */
  public Optional<Node> optional(String key) {
    return Optional.ofNullable(node.members().get(key)).filter(v -> !v.is(Node.Type.NOTHING));
  }

  /** A list of whole numbers. */
  public List<Integer> counts(String key, int least) {
    return required(key).list().stream().map(element -> element.count(least)).toList();
  }

  /** Checks that the file is of this format and of a version that we read. */
  public void version(String format, int newest) {
    Node named = required("format");
    if (!named.is(Node.Type.TEXT) || !named.text().equals(format)) {
      throw named.wrong(
          "the file's format is not " + format + "; expected \"format\": \"" + format + "\"");
    }
    int version = required("version").count(1);
    if (version > newest) {
      throw required("version")
          .wrong(
              "version "
                  + version
                  + " of "
                  + format
                  + " is newer than this program; update the program or write version "
                  + newest);
    }
  }
}
