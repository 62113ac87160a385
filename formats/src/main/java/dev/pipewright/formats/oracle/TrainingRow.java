package dev.pipewright.formats.oracle;

import dev.pipewright.formats.file.Amounts;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.ShownText;
import dev.pipewright.formats.file.Suggestion;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;

/** A line of a table of training runs; an empty or missing cell has its column's default. */
public final class TrainingRow {
  /** Columns that have no default. */
  static final List<String> REQUIRED =
      List.of("machine", "layers", "hidden", "heads", "sequence", "global_batch");

  private static final int MOST_RANKS = 1 << 20;

  private final Path file;
  private final int line;
  private final List<String> headings;
  private final List<String> cells;

  TrainingRow(Path file, int line, List<String> headings, List<String> cells) {
    this.file = file;
    this.line = line;
    this.headings = headings;
    this.cells = List.copyOf(cells);
  }

  /** As written, in the order of the headings. */
  public List<String> cells() {
    return cells;
  }

  /** What the row is called: its {@code id}, or else the number of its line. */
  public String id() {
    String id = text("id");
    return id.isEmpty() ? Integer.toString(line) : id;
  }

  /** Whether the table has a column. */
  boolean has(String column) {
    return headings.contains(column);
  }

  /** Whether a cell is filled. */
  boolean isFilled(String column) {
    return !text(column).isEmpty();
  }

  /** A cell without blanks around it; empty where it is. */
  String text(String column) {
    int index = headings.indexOf(column);
    return index < 0 ? "" : cells.get(index);
  }

  /** A whole number from 0; {@code otherwise} where the cell is empty. */
  int count(String column, int otherwise) {
    String text = text(column);
    if (text.isEmpty()) {
      return otherwise;
    }
    double value = Amounts.decimal(text);
    if (!(value >= 0 && value <= 1 << 28 && value == Math.rint(value))) {
      throw wrong(
          column,
          "%s=%s is no whole number; write digits, 0 to %d"
              .formatted(column, ShownText.of(text), 1 << 28));
    }
    return (int) value;
  }

  /** A whole number of which 0 stands for the default, too. */
  int positive(String column, int otherwise) {
    int value = count(column, 0);
    return value == 0 ? otherwise : value;
  }

  /** A degree of parallelism; {@code otherwise} where the cell is empty. */
  int degree(String column, int otherwise) {
    int value = positive(column, otherwise);
    if (value > MOST_RANKS) {
      throw wrong(
          column, "%s=%d is out of range; write 1 to %d".formatted(column, value, MOST_RANKS));
    }
    return value;
  }

  /** A whole number that is needed. */
  int required(String column) {
    if (text(column).isEmpty()) {
      throw wrong(column, "%s is empty and has no default; write a number".formatted(column));
    }
    int value = count(column, 0);
    if (value == 0) {
      throw wrong(column, "%s=0 is too small; write at least 1".formatted(column));
    }
    return value;
  }

  /** A number, such as a share. */
  double number(String column, double otherwise) {
    String text = text(column);
    double value = text.isEmpty() ? otherwise : Amounts.decimal(text);
    if (!Double.isFinite(value)) {
      throw wrong(column, "%s=%s is no number; write digits".formatted(column, ShownText.of(text)));
    }
    return value;
  }

  /** 1 for yes and 0 for no. */
  boolean flag(String column, boolean otherwise) {
    return switch (text(column)) {
      case "" -> otherwise;
      case "0", "0.0", "no", "false", "False" -> false;
      case "1", "1.0", "yes", "true", "True" -> true;
      default ->
          throw wrong(
              column,
              "%s=%s is neither yes nor no; write 1 or 0"
                  .formatted(column, ShownText.of(text(column))));
    };
  }

  /** One of some words. */
  String choice(String column, String otherwise, List<String> known) {
    String word = text(column).isEmpty() ? otherwise : text(column);
    if (!known.contains(word)) {
      throw wrong(
          column,
          "%s=%s is unknown; %s".formatted(column, ShownText.of(word), Suggestion.of(word, known)));
    }
    return word;
  }

  /** A mistake in one cell; a missing column stands for the whole line. */
  BadInputException wrong(String column, String mistake) {
    int index = headings.indexOf(column);
    return index < 0
        ? BadInputException.at(file, line, mistake)
        : BadInputException.at(file, line, index + 1, mistake);
  }

  /** What is made of a cell; its complaints become a mistake there. */
  <T> T checked(String column, Supplier<T> made) {
    try {
      return made.get();
    } catch (BadInputException e) {
      throw e.getMessage() != null && e.getMessage().startsWith(file.toString())
          ? e
          : wrong(column, String.valueOf(e.getMessage()));
    } catch (IllegalArgumentException | ArithmeticException e) {
      String said = String.valueOf(e.getMessage());
      // the sentence begins with the column that it is about, where it is about one
      String named = said.split("[= ]", 2)[0];
      throw wrong(headings.contains(named) ? named : column, said);
    }
  }
}
