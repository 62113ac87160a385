package dev.pipewright.formats.transformer;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.ShownText;
import dev.pipewright.formats.json.Node;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.StackShape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The values of a Hugging Face configuration. A value that equals its class's default is usually
 * left out of the file, so that each family has its defaults.
 *
 * @param node the object with the sizes: the whole file or its {@code text_config}
 * @param outer the whole file
 * @param defaults whole numbers by key
 */
record ConfigFields(Node node, Node outer, Map<String, Integer> defaults) {
  /** How names of classes with scores of words end. */
  private static final List<String> HEADS =
      List.of("ForCausalLM", "ForConditionalGeneration", "LMHeadModel");

  /** {@code "vocab_size 32000, hidden_size 4096"} by key. */
  static Map<String, Integer> defaults(String text) {
    Map<String, Integer> values = new HashMap<>();
    for (String pair : text.split(",\\s*", -1)) {
      String[] words = pair.split(" ", -1);
      values.put(words[0], Integer.valueOf(words[1]));
    }
    return values;
  }

  private @Nullable Node value(String key) {
    Node value = node.members().get(key);
    return value == null || value.is(Node.Type.NOTHING) ? null : value;
  }

  boolean says(String key) {
    return value(key) != null;
  }

  /** A whole number ≥ 1; its absence is a mistake where the family has no default. */
  int number(String key) {
    return number(key, 1);
  }

  /** A whole number ≥ {@code least}. */
  int number(String key, int least) {
    return optional(key, least)
        .orElseThrow(() -> node.wrong("the key \"" + key + "\" is missing; add it"));
  }

  /** A whole number ≥ 1, where the file or the family has one; null takes away the default. */
  OptionalInt optional(String key) {
    return optional(key, 1);
  }

  private OptionalInt optional(String key, int least) {
    Node value = node.members().get(key);
    if (value == null) {
      Integer usual = defaults.get(key);
      return usual == null ? OptionalInt.empty() : OptionalInt.of(usual);
    }
    return value.is(Node.Type.NOTHING) ? OptionalInt.empty() : OptionalInt.of(value.count(least));
  }

  boolean flag(String key, boolean usual) {
    Node value = value(key);
    return value == null ? usual : value.flag();
  }

  /** Whether the head shares the table of words; models with towers say so outside the text's. */
  boolean tied(boolean usual) {
    String key = "tie_word_embeddings";
    Node outside = outer.members().get(key);
    if (outside == null || outside.is(Node.Type.NOTHING)) {
      return flag(key, usual);
    }
    return flag(key, outside.flag());
  }

  String word(String key, String usual) {
    Node value = value(key);
    return value == null ? usual : value.text();
  }

  /** A list, where the file has one. */
  Optional<List<Node>> list(String key) {
    return Optional.ofNullable(value(key)).map(Node::list);
  }

  /** Whole numbers of a list ≥ 0; none where the file has no list. */
  List<Integer> numbers(String key) {
    List<Integer> numbers = new ArrayList<>();
    list(key).orElse(List.of()).forEach(each -> numbers.add(each.count(0)));
    return numbers;
  }

  /** Members of an object, where the file has one. */
  OptionalInt members(String key) {
    Node value = value(key);
    return value == null
        ? OptionalInt.empty()
        : OptionalInt.of(value.object().node().members().size());
  }

  /** The names of the classes that the file is for; none where it does not say. */
  List<String> architectures() {
    Node list = outer.members().get("architectures");
    return list == null || list.is(Node.Type.NOTHING)
        ? List.of()
        : list.list().stream().map(Node::text).toList();
  }

  /**
   * The scores of words that the file's class has: those of its language model, none of the model
   * without a head; others are refused by name.
   */
  List<HeadPart> scores(boolean usuallyTied) {
    List<HeadPart> scores = List.of(new HeadPart.Scores(tied(usuallyTied), false));
    List<String> all = architectures();
    String first = all.isEmpty() ? "LMHeadModel" : all.get(0);
    if (HEADS.stream().anyMatch(first::endsWith)) {
      return scores;
    }
    if (first.endsWith("Model")) {
      return List.of();
    }
    throw outer.wrong(
        "the architecture "
            + ShownText.of(first)
            + " has a head that is not supported yet; name the model without it");
  }

  /** The number of layers under {@code key}, small enough to be listed. */
  int layers(String key) {
    int layers = number(key);
    if (layers > StackShape.MOST_BLOCKS) {
      throw wrong(
          key,
          "%s=%d is out of range; write 1 to %d".formatted(key, layers, StackShape.MOST_BLOCKS));
    }
    return layers;
  }

  /** {@code hidden / heads}, where that is whole. */
  int share(String hiddenKey, String headsKey) {
    int hidden = number(hiddenKey);
    int heads = number(headsKey);
    if (hidden % heads != 0) {
      throw wrong(
          hiddenKey,
          "%s=%d is no multiple of %s=%d; correct one or add head_dim"
              .formatted(hiddenKey, hidden, headsKey, heads));
    }
    return hidden / heads;
  }

  /** {@code mistake} in the line of {@code key}. */
  BadInputException wrong(String key, String mistake) {
    Node value = node.members().get(key);
    return (value == null ? node : value).wrong(mistake);
  }
}
