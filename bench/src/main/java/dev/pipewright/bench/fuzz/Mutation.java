package dev.pipewright.bench.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Damages files as disks, editors, other tools and attackers do; the same seed does the same. */
final class Mutation {
  private static final Pattern NUMBER = Pattern.compile("[-+]?\\d+\\.?\\d*([eE][-+]?\\d+)?");
  private static final Pattern WORD = Pattern.compile("[A-Za-z_][A-Za-z_0-9]+");

  /** What a number may be replaced by: ends of types, rounding, other ways of writing. */
  static final List<String> NUMBERS =
      List.of(
          "0",
          "-0",
          "-1",
          "1",
          "2",
          "0.5",
          "1e-300",
          "4.9e-324",
          "1e308",
          "1e400",
          "-1e308",
          "1e999999999",
          "1e-999999999",
          "NaN",
          "Infinity",
          "-Infinity",
          "0x1p3",
          "1_000",
          "٣",
          "",
          "1e9",
          "1e15",
          "1e18",
          "1e-18",
          "1e24",
          "1048576",
          "1048577",
          "2147483647",
          "2147483648",
          "-2147483648",
          "9223372036854775807",
          "9223372036854775808",
          "9007199254740993",
          "99999999999999999999999999",
          "null",
          "true",
          "\"1\"",
          "[]",
          "{}");

  private static final List<String> PIECES =
      List.of(
          "{",
          "}",
          "[",
          "]",
          "\"",
          ",",
          ":",
          "|",
          "\t",
          "\n",
          "\r",
          "\0",
          "\033[31m",
          "\uFEFF",
          "é",
          "\uD83D\uDE00",
          "#",
          "- ",
          "&a ",
          "*a",
          "!!x ",
          "---\n",
          "../",
          "/dev/zero",
          "%s",
          "x",
          "[".repeat(2000),
          "{\"a\":".repeat(600),
          "-".repeat(300),
          "9".repeat(3000));

  private final SplittableRandom random;

  Mutation(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /** One to three mutations of a text. */
  byte[] of(byte[] bytes) {
    byte[] damaged = bytes;
    for (int count = random.nextInt(1, 4); count > 0; count--) {
      damaged =
          random.nextInt(5) == 0
              ? ofBytes(damaged)
              : text(new String(damaged, StandardCharsets.UTF_8)).getBytes(StandardCharsets.UTF_8);
    }
    return damaged;
  }

  /** A mutation of any file. */
  byte[] ofBytes(byte[] bytes) {
    if (bytes.length == 0) {
      return new byte[] {(byte) random.nextInt(256)};
    }
    byte[] damaged = bytes.clone();
    int at = random.nextInt(damaged.length);
    switch (random.nextInt(4)) {
      case 0 -> damaged[at] ^= (byte) (1 << random.nextInt(8));
      case 1 -> damaged[at] = one((byte) 0, (byte) 1, (byte) 0x7F, (byte) 0x80, (byte) 0xFF);
      case 2 -> damaged = Arrays.copyOf(damaged, at);
      default -> {
        int length = Math.min(random.nextInt(1, 9), damaged.length - at);
        Arrays.fill(damaged, at, at + length, one((byte) 0, (byte) 0x7F, (byte) 0xFF));
      }
    }
    return damaged;
  }

  private byte one(byte... values) {
    return values[random.nextInt(values.length)];
  }

  private String text(String text) {
    return switch (random.nextInt(12)) {
      case 0, 1, 2, 3 -> replaced(text, NUMBER, NUMBERS.get(random.nextInt(NUMBERS.size())));
      case 4 -> replaced(text, WORD, word(text));
      case 5 -> replaced(text, WORD, misspelt(word(text)));
      case 6, 7 -> lines(text);
      case 8 -> text.substring(0, random.nextInt(text.length() + 1));
      case 9 -> {
        int from = random.nextInt(text.length() + 1);
        int to = Math.min(text.length(), from + random.nextInt(1, 30));
        yield text.substring(0, from) + text.substring(to);
      }
      default -> {
        int at = random.nextInt(text.length() + 1);
        String piece = PIECES.get(random.nextInt(PIECES.size()));
        yield text.substring(0, at) + piece + text.substring(at);
      }
    };
  }

  private String replaced(String text, Pattern what, String by) {
    List<MatchResult> found = what.matcher(text).results().toList();
    if (found.isEmpty()) {
      return text + by;
    }
    MatchResult one = found.get(random.nextInt(found.size()));
    return text.substring(0, one.start()) + by + text.substring(one.end());
  }

  private String word(String text) {
    List<MatchResult> found = WORD.matcher(text).results().toList();
    return found.isEmpty() ? "word" : found.get(random.nextInt(found.size())).group();
  }

  private String misspelt(String word) {
    int at = random.nextInt(word.length());
    return word.substring(0, at) + (char) random.nextInt('a', 'z' + 1) + word.substring(at + 1);
  }

  /** A line removed, repeated or moved. */
  private String lines(String text) {
    List<String> lines = new ArrayList<>(Arrays.asList(text.split("\n", -1)));
    String line = lines.remove(random.nextInt(lines.size()));
    int copies = random.nextInt(3);
    for (int copy = 0; copy < copies; copy++) {
      lines.add(random.nextInt(lines.size() + 1), line);
    }
    return String.join("\n", lines);
  }
}
