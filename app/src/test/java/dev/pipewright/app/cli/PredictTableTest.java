package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code predict --table}: the table with predictions, as text and as JSON. */
class PredictTableTest {
  @TempDir private Path folder;
  private String table = "";
  private String guide = "";

  /** The table that the guide shows. */
  @BeforeEach
  void table() throws IOException {
    String page = Files.readString(Path.of("..", "docs", "guide.md"));
    int start = page.indexOf("machine,devices,layers");
    guide = page.substring(start, page.indexOf("\n```", start)) + "\n";
    table = Cli.file(folder, "runs.csv", guide).toString();
  }

  @Test
  void theTableComesBackWithPredictedColumns() {
    Cli run = Cli.run("predict", "--table", table).ends(0);
    assertEquals("", run.err());
    String[] lines = run.out().split("\n", -1);
    String[] given = guide.split("\n", -1);
    assertEquals(
        given[0]
            + ",predicted_iteration_s,predicted_low_s,predicted_high_s,predicted_memory_bytes,predicted_logged_rank_bytes,predicted_fits",
        lines[0]);
    assertTrue(lines[1].startsWith(given[1] + ","), lines[1]);
    assertEquals(3, lines.length);
    assertEquals("", lines[2]);
  }

  @Test
  void jsonSaysTheSameAndItsPhasesAddUp() {
    String[] cells = Cli.run("predict", "--table", table).out().split("\n", -1)[1].split(",", -1);
    JsonNode row = Cli.run("predict", "--table", table, "--json").ends(0).json().at("/rows/0");
    assertEquals("2", row.get("id").asString());
    assertEquals(cells[20], row.get("iteration_s").toString());
    assertEquals(cells[21], row.at("/interval_s/0").toString());
    assertEquals(cells[22], row.at("/interval_s/1").toString());
    assertEquals(cells[23], row.get("memory_bytes").toString());
    assertEquals(cells[24], row.get("logged_rank_bytes").toString());
    assertEquals("1", cells[25]);
    assertTrue(row.get("fits").asBoolean());
    assertEquals("inside", row.get("calibration").asString());
    double seconds = 0;
    for (JsonNode phase : row.get("phases")) {
      seconds += phase.asDouble();
    }
    double step = row.get("iteration_s").asDouble();
    assertEquals(step, seconds, 1e-9 * step);
    long bytes = 0;
    for (JsonNode part : row.get("memory")) {
      bytes += part.asLong();
    }
    assertTrue(Math.abs(row.get("memory_bytes").asLong() - bytes) <= 3, row::toString);
  }

  @Test
  void unknownColumnsAreNamedOnceOnStandardError() {
    String more = guide.replace("machine,", "colour,machine,").replace("\nh100", "\nred,h100");
    more += more.substring(more.indexOf("\nred") + 1);
    Cli run = Cli.run("predict", "--table", Cli.file(folder, "more.csv", more).toString());
    assertEquals("columns that predictions do not read: colour\n", run.ends(0).err());
    assertEquals(4, run.out().split("\n", -1).length);
  }

  @Test
  void whatDoesNotGoWithATableIsRefused() {
    Cli.run("predict", "bert-48", "--table", table)
        .refusal(2, "--table: its rows describe the networks; leave out 'bert-48'");
    Cli.run("predict", "--table", table, "--devices", "8")
        .refusal(2, "--devices: does not go with --table, whose rows say how they train");
    Cli.run("predict", "--table", folder.resolve("none.csv").toString())
        .refusal(2, "none.csv: no such file");
    Path wrong = Cli.file(folder, "wrong.csv", guide.replace(",80,", ",81x,"));
    Cli.run("predict", "--table", wrong.toString())
        .refusal(2, "wrong.csv:2:3: layers=81x is no whole number; write digits");
    Cli.run("predict", "--cluster", "abci")
        .refusal(2, "MODEL is missing; write `pipewright predict MODEL` or give a --table");
  }
}
