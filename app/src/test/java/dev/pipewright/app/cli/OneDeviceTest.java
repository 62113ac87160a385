package dev.pipewright.app.cli;

import static dev.pipewright.app.cli.SeededPlans.model;
import static dev.pipewright.app.cli.SeededPlans.number;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Every plan is compared with one device alone. */
class OneDeviceTest {
  @TempDir private Path folder;

  @Test
  void oneDeviceIsAlwaysAmongTheAlternativesAndPaysForItsUpdate() {
    for (String planner : List.of("auto", "dapple", "exact", "data", "straight", "gpipe")) {
      Path cluster = Cli.file(folder, "cluster.yaml", Cli.cluster());
      String small = "gpt:layers=4,hidden=256,heads=4,sequence=128,vocabulary=1000";
      String[] args = {"--planner", planner, "--global-batch", "16", "--json"};
      JsonNode answer = Cli.plan(small, cluster, args).ends(0).json();
      JsonNode alone = alone(answer);
      assertTrue(number(alone, "/estimate_s") >= number(answer, "/simulated/step_s"), planner);
      double step = number(answer, "/speedup") * number(answer, "/simulated/step_s");
      assertEquals(number(alone, "/estimate_s"), step, 1e-9);
      Cli only = Cli.plan(small, cluster, Cli.with(Cli.with(args, "--stages"), "1"));
      assertTrue(number(only.json(), "/plan/stages/0/update_s") > 0, only.out());
    }
  }

  private static JsonNode alone(JsonNode answer) {
    for (JsonNode candidate : answer.get("candidates")) {
      if (candidate.get("kind").asString().equals("one device")) {
        return candidate;
      }
    }
    throw new AssertionError("no one device in " + answer.get("candidates"));
  }

  /** Links so slow that whatever is divided takes longer. */
  @Test
  void aPlanThatIsSlowerThanOneDeviceIsNeverRecommended() throws IOException {
    Path slow = folder.resolve("slow.yaml");
    Files.writeString(
        slow, Cli.cluster().replaceAll(", bytes_per_s: \\d+e\\d+}", ", bytes_per_s: 1e6}"));
    String[] args = {"--profile-batch", "2", "--global-batch", "4"};
    for (String planner : List.of("auto", "exact", "data", "straight", "gpipe")) {
      String[] more = Cli.with(Cli.with(args, "--planner"), planner);
      Cli json = Cli.plan(model(folder, 2), slow, Cli.with(more, "--json")).ends(0);
      assertEquals(1, json.json().at("/plan/stages/0/devices").size(), planner);
      assertEquals(1, json.json().at("/plan/stages").size(), planner);
      assertTrue(json.err().contains("one device is the fastest: "), json.err());
    }
    String[] forced = {"--profile-batch", "2", "--global-batch", "4", "--stages", "2"};
    Cli asked = Cli.plan(model(folder, 2), slow, forced).ends(0);
    assertTrue(asked.err().contains("one device alone takes "), asked.err());
    String[] plain = {"--profile-batch", "2", "--global-batch", "4", "--planner", "torchgpipe"};
    Cli rule = Cli.plan(model(folder, 2), slow, plain).ends(0);
    assertTrue(rule.err().contains("one device alone takes "), rule.err());
    String[] asyncPipeline = {
      "--profile-batch", "2", "--global-batch", "4", "--objective", "throughput"
    };
    Cli fastest = Cli.plan(model(folder, 2), slow, Cli.with(asyncPipeline, "--json")).ends(0);
    assertEquals(1, fastest.json().at("/plan/stages").size(), fastest.out());
    assertEquals(1, fastest.json().at("/plan/stages/0/devices").size(), fastest.out());
    assertTrue(fastest.err().contains("one device within its memory "), fastest.err());
  }
}
