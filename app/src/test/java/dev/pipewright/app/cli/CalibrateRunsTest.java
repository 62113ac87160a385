package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.oracle.CalibratedConstantsJson;
import dev.pipewright.formats.oracle.PredictedTable;
import dev.pipewright.formats.oracle.TrainingTable;
import dev.pipewright.predict.transformer.CalibratedConstants;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code calibrate} with training runs of a machine that is slower than the built-in constants. */
class CalibrateRunsTest {
  private static final String HEADINGS =
      "id,model,machine,devices,layers,hidden,heads,sequence,global_batch,tensor,pipeline,zero,"
          + "sequence_parallel,precision,grads,framework";
  private static final String MACHINE = "h100-80g-8x800g";
  private static final Map<String, Double> SLOW = Map.of("eps.half", 0.5, "phi.cudnn", 0.45);

  @TempDir Path folder;

  /** Runs of networks on a machine without their seconds. */
  private static List<String> runs(String machine, int... sizes) {
    List<String> rows = new ArrayList<>();
    for (int hidden : sizes) {
      for (int sequence : new int[] {2048, 16384}) {
        for (String degrees : List.of("16,%s,1,1", "32,%s,4,2", "64,%s,8,1")) {
          String[] parts = degrees.split(",", -1);
          rows.add(
              "r%d,net-%d,%s,%s,24,%d,%d,%d,128,%s,%s,1,1,bf16,bf16,nemo"
                  .formatted(
                      rows.size(),
                      hidden,
                      machine,
                      parts[0],
                      hidden,
                      hidden / 128,
                      sequence,
                      parts[2],
                      parts[3]));
        }
      }
    }
    return rows;
  }

  /** The same with the seconds of a machine whose constants are {@link #SLOW}. */
  private Path measured(String name, List<String> rows) {
    String text = HEADINGS + "\n" + String.join("\n", rows) + "\n";
    CalibratedConstants slow = CalibratedConstantsJson.read().with(SLOW);
    String predicted =
        PredictedTable.of(TrainingTable.read(Cli.file(folder, "plain.csv", text)), slow).json();
    List<String> timed = new ArrayList<>(List.of(HEADINGS + ",iteration_s"));
    JsonNode answers = JsonMapper.shared().readTree(predicted).get("rows");
    for (int i = 0; i < rows.size(); i++) {
      timed.add(rows.get(i) + "," + answers.get(i).get("iteration_s"));
    }
    return Cli.file(folder, name, String.join("\n", timed) + "\n");
  }

  private static double constant(JsonNode answer, String name) {
    for (JsonNode each : answer.get("constants")) {
      if (each.get("name").asString().equals(name)) {
        return each.get("fitted").asDouble();
      }
    }
    throw new AssertionError(name + " did not move: " + answer.get("constants"));
  }

  private static List<String> names(JsonNode answer) {
    List<String> names = new ArrayList<>();
    answer.get("constants").forEach(each -> names.add(each.get("name").asString()));
    return names;
  }

  @Test
  void aSlowMachineIsFoundAndPredictedWithItsConstants() {
    Path table = measured("runs.csv", runs(MACHINE, 2048, 4096, 6144));
    Path out = folder.resolve("fitted");
    Cli run = Cli.run("calibrate", table.toString(), "--json", "--out", out.toString()).ends(0);
    JsonNode answer = run.json();
    assertEquals("wrote constants.json, residuals.svg to " + out + "\n", run.err());
    assertEquals(18, answer.get("runs").asInt());
    assertEquals(3, answer.get("networks").asInt());
    assertEquals(MACHINE, answer.get("machine").asString());
    int moved = answer.get("constants").size();
    assertTrue(7 <= moved && moved <= 9, "constants " + moved);
    assertEquals(0.5, constant(answer, "eps.half"), 0.02);
    assertEquals(0.45, constant(answer, "phi.cudnn"), 0.04);
    assertTrue(answer.at("/errors/built_in/mean").asDouble() > 0.1);
    assertTrue(answer.at("/errors/fitted/mean").asDouble() < 0.01);
    assertTrue(answer.at("/errors/left_out/mean").asDouble() < 0.03);

    JsonNode file = JsonMapper.shared().readTree(Cli.text(out.resolve("constants.json")));
    assertEquals(18, file.at("/fit/residuals").size());
    JsonNode first = file.at("/fit/residuals/0");
    assertEquals("r0", first.get("id").asString());
    assertTrue(first.get("built_in_s").asDouble() < 0.95 * first.get("measured_s").asDouble());
    assertEquals(MACHINE, file.get("machine").asString());
    for (JsonNode each : file.get("constants")) {
      boolean own = each.get("source").asString().endsWith("runs.csv, runs on " + MACHINE);
      assertEquals(names(answer).contains(each.get("name").asString()), own, each.toString());
    }
    String picture = Cli.text(out.resolve("residuals.svg"));
    assertEquals(
        3 * 18 + 3, picture.split("a4\\.5 4\\.5 0 1 0 9 0", -1).length - 1); // and a legend
    assertTrue(picture.contains("prefers-color-scheme: dark"));

    // a stated layout and a search, whose best layout that is
    String layout =
        "predict megatron-22b --cluster %s --devices 16 --tensor 8 --pipeline 1 --data 2 --micro-batch 1 --sequence-parallel --recompute full --zero 1 --global-batch 64 --json"
            .formatted(MACHINE);
    JsonNode usual = Cli.run(layout.split(" ", -1)).json().at("/rows/0");
    String with = " --constants " + out.resolve("constants.json");
    JsonNode own = Cli.run((layout + with).split(" ", -1)).json().at("/rows/0");
    JsonNode found = Cli.run((layout + with + " --search").split(" ", -1)).json().at("/rows/0");
    assertTrue(
        own.get("iteration_s").asDouble() > 1.05 * usual.get("iteration_s").asDouble(),
        own + " " + usual);
    assertTrue(found.get("iteration_s").asDouble() <= own.get("iteration_s").asDouble());
    assertTrue(found.get("iteration_s").asDouble() > 0.99 * own.get("iteration_s").asDouble());

    // a network and a layout that the fit did not see
    Path other = measured("other.csv", runs(MACHINE, 8192));
    String constants = out.resolve("constants.json").toString();
    JsonNode fitted =
        Cli.run("predict", "--table", other.toString(), "--constants", constants, "--json")
            .ends(0)
            .json();
    JsonNode builtIn = Cli.run("predict", "--table", other.toString(), "--json").ends(0).json();
    List<String> rows = Cli.text(other).lines().skip(1).toList();
    for (int i = 0; i < rows.size(); i++) {
      double seconds = Double.parseDouble(rows.get(i).substring(rows.get(i).lastIndexOf(',') + 1));
      double error = Math.abs(fitted.at("/rows/" + i + "/iteration_s").asDouble() / seconds - 1);
      double before = Math.abs(builtIn.at("/rows/" + i + "/iteration_s").asDouble() / seconds - 1);
      assertTrue(error < 0.03 && before > 0.1, rows.get(i) + ": " + error + ", " + before);
      assertEquals(
          "extrapolated", fitted.at("/rows/" + i + "/calibration").asString()); // 8192 > 6144
    }
  }

  @Test
  void wordsSayWhatMovedAndHowFarItHelps() {
    Cli run = Cli.run("calibrate", measured("runs.csv", runs(MACHINE, 2048, 4096)).toString());
    String out = run.ends(0).out();
    assertTrue(
        out.startsWith(folder.resolve("runs.csv") + ": 12 runs of 2 networks on " + MACHINE), out);
    for (String line :
        List.of("built-in constants ", "fitted constants ", "network left out of the fit ")) {
      assertTrue(out.contains("  " + line), line + " in " + out);
    }
    assertTrue(
        out.lines().anyMatch(l -> l.matches(" +eps\\.half +0\\.675 +0\\.(49|50)\\d .*")), out);
    assertEquals("", run.err());
  }

  @Test
  void runsOfOneMachineAreChosen() {
    List<String> rows = new ArrayList<>(runs(MACHINE, 2048, 4096));
    rows.addAll(runs("gb200-nvl72", 2048, 4096));
    String table = measured("runs.csv", rows).toString();
    Cli.run("calibrate", table)
        .refusal(2, "holds runs of gb200, h100-80g-8x800g; choose one with --cluster");
    JsonNode answer =
        Cli.run("calibrate", table, "--cluster", "gb200-nvl72", "--json").ends(0).json();
    assertEquals(12, answer.get("runs").asInt());
    Cli.run("calibrate", table, "--cluster", "b200-8x3200g")
        .refusal(
            2, "--cluster: ", "holds no runs of 'b200-8x3200g'; one of gb200, h100-80g-8x800g");
    Cli.run("calibrate", table, "--cluster", "abci")
        .refusal(2, "--cluster: machine=abci is unknown");
  }

  @Test
  void tooFewRunsAreRefused() {
    List<String> rows = runs(MACHINE, 2048, 4096);
    Cli.run("calibrate", measured("few.csv", rows.subList(0, 11)).toString())
        .refusal(
            2,
            "few.csv: 11 runs of 2 networks decide too little; give at least 12 runs of 2 networks");
    Path one = measured("one.csv", runs(MACHINE, 2048).subList(0, 6));
    Cli.run("calibrate", one.toString()).refusal(2, "6 runs of 1 network decide too little");
  }

  @Test
  void optionsThatDoNotGoTogetherAreRefused() {
    String table = measured("runs.csv", runs(MACHINE, 2048, 4096)).toString();
    Cli.run("calibrate", table, "--level", "node")
        .refusal(
            2, "--level: is for collectives, and " + table + " holds training runs; leave it out");
    Cli.run("predict", "bert-48", "--cluster", "abci", "--constants", table)
        .refusal(2, "--constants: is for a --table, a transformer's stated layout or --search");
    Cli.run(
            ("predict gpt-2 --cluster " + MACHINE + " --tensor 1 --pipeline 1 --global-batch 64")
                .concat(" --constants " + table)
                .split(" ", -1))
        .refusal(2, "runs.csv:1:1: ");
    Cli.run("predict", "--table", table, "--constants", table).refusal(2, "runs.csv:1:1: ");
  }

  @Test
  void constantsThatForeseeNoMoreAreSaidTo() {
    // one network is as much too fast as the other is too slow: each misleads about the other
    List<String> rows = new ArrayList<>();
    List<String> lines = Cli.text(measured("runs.csv", runs(MACHINE, 2048, 4096))).lines().toList();
    for (int i = 1; i < lines.size(); i++) {
      int comma = lines.get(i).lastIndexOf(',');
      double seconds = Double.parseDouble(lines.get(i).substring(comma + 1));
      boolean slow = lines.get(i).contains("net-2048");
      rows.add(lines.get(i).substring(0, comma + 1) + seconds * (slow ? 0.55 : 1.2));
    }
    Path table = Cli.file(folder, "odd.csv", lines.get(0) + "\n" + String.join("\n", rows) + "\n");
    String said = Cli.run("calibrate", table.toString()).ends(0).err();
    assertTrue(
        said.startsWith(
            "pipewright: networks that were left out are foreseen no better than with the built-in"
                + " constants; keep those"),
        said);
  }
}
