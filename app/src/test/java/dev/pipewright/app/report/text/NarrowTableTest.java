package dev.pipewright.app.report.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import java.util.List;
import org.junit.jupiter.api.Test;

class NarrowTableTest {
  private static final Table TABLE =
      new Table(
          List.of(
              Column.number("stage"),
              Column.text("devices"),
              Column.number("forward"),
              Column.number("backward")),
          List.of(
              Table.row(Cell.of("0"), Cell.of("0–7"), Cell.of("70.4 ms"), Cell.of("138 ms")),
              Table.row(Cell.of("1"), Cell.of("8–15"), Cell.of("54.6 ms"), Cell.of("107 ms"))));

  private static String in(int columns) {
    return in(columns, TABLE);
  }

  private static String in(int columns, Table table) {
    StringBuilder out = new StringBuilder();
    TerminalTable.append(out, table, columns, new Ink(false));
    return out.toString();
  }

  @Test
  void allColumnsStandNextToEachOtherWhereThereIsRoom() {
    assertEquals(
        """
          stage  devices  forward  backward
              0  0–7      70.4 ms    138 ms
              1  8–15     54.6 ms    107 ms
        """,
        in(40));
  }

  @Test
  void theOthersComeBelowWithTheFirstColumnAgain() {
    assertEquals(
        """
          stage devices forward
              0 0–7     70.4 ms
              1 8–15    54.6 ms

          stage backward
              0   138 ms
              1   107 ms
        """,
        in(26));
  }

  @Test
  void aRowThatHasNothingInTheOthersIsNotRepeated() {
    Table fits =
        new Table(
            List.of(
                Column.text("fit"),
                Column.number("latency"),
                Column.number("bandwidth"),
                Column.number("error")),
            List.of(
                Table.row(Cell.of("by size"), Cell.of(""), Cell.of(""), Cell.of("1.4 %")),
                Table.row(
                    Cell.of("  above"), Cell.of("29.6 µs"), Cell.of("343 GB/s"), Cell.of(""))));
    assertEquals(
        """
          fit     latency bandwidth
          by size
            above 29.6 µs  343 GB/s

          fit     error
          by size 1.4 %
        """,
        in(28, fits));
  }
}
