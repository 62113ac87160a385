package dev.pipewright.app.report.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.app.report.plan.StageRows.Stage;
import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.TerminalTable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class StageRowsTest {
  private static String table(List<Stage> stages) {
    List<Column> columns = StageRows.columns();
    columns.add(Column.number("in\nflight"));
    columns.add(Column.number("forward"));
    StringBuilder out = new StringBuilder();
    TerminalTable.append(out, new Table(columns, StageRows.of(stages, 16)), 100, new Ink(false));
    return out.toString();
  }

  /** Two layers on one device. */
  private static Stage stage(int number, int inFlight, String forward) {
    return new Stage(
        2 * number,
        2 * number + 1,
        List.of(number),
        List.of(forward),
        List.of(Cell.of("" + inFlight), Cell.of(forward)));
  }

  @Test
  void fourEqualStagesShareARowThatSaysHowTheyDiffer() {
    List<Stage> stages =
        new ArrayList<>(IntStream.range(0, 4).mapToObj(i -> stage(i, 5 - i, "1.20 ms")).toList());
    stages.add(stage(4, 1, "3.00 ms"));
    assertEquals(
        """
                                           in
          stage       layers  devices  flight  forward
            0–3  0–7, 2 each  0–3       5 … 2  1.20 ms
              4          8–9  4             1  3.00 ms
        """,
        table(stages));
  }

  @Test
  void threeEqualStagesHaveARowEach() {
    assertEquals(
        5,
        table(IntStream.range(0, 3).mapToObj(i -> stage(i, 3 - i, "1.20 ms")).toList())
            .lines()
            .count());
  }
}
