package dev.pipewright.app.cli.setup;

import dev.pipewright.app.cli.host.ThisHost;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.formats.json.JsonText;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "doctor",
    description =
        "Says what this machine has of what Pipewright can use, and what a missing thing costs.",
    footer = {
      "",
      "Nothing of it is needed to plan, predict and simulate. The status is always 0.",
      "",
      "Examples:",
      "  pipewright doctor",
      "  pipewright doctor --json"
    })
public final class DoctorCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  DoctorCommand() {
    this.spec = CommandSpec.create(); // until picocli sets the real one
  }

  @Override
  public Integer call() {
    List<Diagnosis> findings = Checkup.of(new ThisHost());
    PrintWriter out = spec.commandLine().getOut();
    out.print(json ? json(findings) : text(findings));
    return 0;
  }

  static String text(List<Diagnosis> findings) {
    StringBuilder text = new StringBuilder();
    for (Diagnosis each : findings) {
      String head = "%-8s %-11s ".formatted(each.found() ? "found" : "missing", each.name());
      text.append(Terminal.sentence(head + each.what(), head.length()));
    }
    return text.toString();
  }

  private static String json(List<Diagnosis> findings) {
    List<Map<String, Object>> list = new ArrayList<>();
    for (Diagnosis each : findings) {
      Map<String, Object> object = new LinkedHashMap<>();
      object.put("name", each.name());
      object.put("found", each.found());
      object.put(each.found() ? "what" : "without", each.what());
      list.add(object);
    }
    return JsonText.of(Map.of("findings", list));
  }
}
