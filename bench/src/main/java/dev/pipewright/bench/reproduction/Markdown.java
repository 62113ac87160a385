package dev.pipewright.bench.reproduction;

import java.util.ArrayList;
import java.util.List;

/** A table in Markdown, padded so that it reads as plain text too; numbers stand to the right. */
public final class Markdown {
  private final List<List<String>> rows = new ArrayList<>();

  public Markdown(String... header) {
    rows.add(List.of(header));
  }

  public Markdown row(Object... cells) {
    List<String> row = new ArrayList<>();
    for (Object cell : cells) {
      row.add(String.valueOf(cell).replace("|", "\\|"));
    }
    if (row.size() != rows.get(0).size()) {
      throw new IllegalArgumentException("cells=" + row + ", header=" + rows.get(0));
    }
    rows.add(row);
    return this;
  }

  private boolean numbers(int column) {
    for (List<String> row : rows.subList(1, rows.size())) {
      String cell = row.get(column);
      if (!cell.isEmpty() && !cell.equals("–") && !cell.matches("[-+]?[0-9.].{0,12}")) {
        return false;
      }
    }
    return true;
  }

  @Override
  public String toString() {
    int columns = rows.get(0).size();
    int[] widths = new int[columns];
    boolean[] right = new boolean[columns];
    for (int column = 0; column < columns; column++) {
      right[column] = numbers(column);
      widths[column] = 3;
      for (List<String> row : rows) {
        widths[column] = Math.max(widths[column], length(row.get(column)));
      }
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < rows.size(); i++) {
      for (int column = 0; column < columns; column++) {
        String cell = rows.get(i).get(column);
        String blank = " ".repeat(widths[column] - length(cell));
        text.append(right[column] ? "| " + blank + cell : "| " + cell + blank).append(' ');
      }
      text.append("|\n");
      for (int column = 0; i == 0 && column < columns; column++) {
        text.append("| ").append("-".repeat(widths[column] - 1));
        text.append(right[column] ? ": " : "- ");
      }
      text.append(i == 0 ? "|\n" : "");
    }
    return text.toString();
  }

  private static int length(String cell) {
    return cell.codePointCount(0, cell.length());
  }
}
