package dev.pipewright.formats.transformer;

import java.util.ArrayList;
import java.util.List;

/**
 * A list of zeros and ones as Megatron's {@code --moe-layer-freq} writes it: {@code
 * ([0]*3+[1]*58)}. A grammar of lists, {@code *}, {@code +} and parentheses, which nothing
 * evaluates:
 *
 * <pre>
 * sum := product ("+" product)*     product := atom ("*" number)*
 * atom := "[" number ("," number)* "]" | "(" sum ")"
 * </pre>
 */
public final class LayerPattern {
  private final String text;
  private final int most;
  private int at;

  private LayerPattern(String text, int most) {
    this.text = text.replaceAll("[\\s\"']", "");
    this.most = most;
  }

  /**
   * The elements.
   *
   * @param most elements that the list may have
   * @throws IllegalArgumentException saying what was expected and where
   */
  public static List<Integer> parse(String text, int most) {
    LayerPattern pattern = new LayerPattern(text, most);
    List<Integer> elements = pattern.sum(0);
    if (pattern.at < pattern.text.length()) {
      throw pattern.expected("+ or *");
    }
    return elements;
  }

  private List<Integer> sum(int depth) {
    List<Integer> elements = new ArrayList<>(product(depth));
    while (takes('+')) {
      elements.addAll(product(depth));
      check(elements.size());
    }
    return elements;
  }

  private List<Integer> product(int depth) {
    List<Integer> elements = atom(depth);
    while (takes('*')) {
      int times = number();
      check((long) elements.size() * times);
      List<Integer> repeated = new ArrayList<>();
      for (int i = 0; i < times; i++) {
        repeated.addAll(elements);
      }
      elements = repeated;
    }
    return elements;
  }

  private List<Integer> atom(int depth) {
    if (depth < 16 && takes('(')) {
      List<Integer> inner = sum(depth + 1);
      require(')');
      return inner;
    }
    require('[');
    List<Integer> elements = new ArrayList<>();
    do {
      elements.add(number());
    } while (takes(','));
    require(']');
    check(elements.size());
    return elements;
  }

  private int number() {
    int start = at;
    while (at < text.length() && at - start < 7 && Character.isDigit(text.charAt(at))) {
      at++;
    }
    if (start == at) {
      throw expected("a number");
    }
    return Integer.parseInt(text.substring(start, at));
  }

  private boolean takes(char letter) {
    boolean next = at < text.length() && text.charAt(at) == letter;
    at += next ? 1 : 0;
    return next;
  }

  private void require(char letter) {
    if (!takes(letter)) {
      throw expected("" + letter);
    }
  }

  private void check(long elements) {
    if (elements > most) {
      throw new IllegalArgumentException(
          "lists more than %d layers; write one element for each".formatted(most));
    }
  }

  private IllegalArgumentException expected(String what) {
    String rest =
        at < text.length()
            ? "\"" + text.substring(at, Math.min(text.length(), at + 12)) + "\""
            : "its end";
    return new IllegalArgumentException(
        "is no list of layers: expected %s before %s; write it like ([0]*3+[1]*58)"
            .formatted(what, rest));
  }
}
