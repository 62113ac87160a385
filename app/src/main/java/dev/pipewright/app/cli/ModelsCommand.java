package dev.pipewright.app.cli;

import dev.pipewright.model.Chain;
import dev.pipewright.units.Units;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "models",
    description = "Lists the networks that need no file.",
    footer = {"", "Example:", "  pipewright models"})
final class ModelsCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  ModelsCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    StringBuilder array = new StringBuilder();
    for (String name : Models.names()) {
      ZooModel model = Models.find(name).orElseThrow();
      long parameters = model.graph().parameters();
      int positions = Chain.of(model.graph()).size();
      if (json) {
        array
            .append(array.isEmpty() ? "" : ", ")
            .append(
                String.format(
                    Locale.ROOT,
                    "{\"name\": \"%s\", \"parameters\": %d, \"layers\": %d, \"positions\": %d}",
                    name,
                    parameters,
                    model.graph().size(),
                    positions));
      } else {
        out.printf(
            Locale.ROOT,
            "%-14s %9s parameters  %4d places to cut  %s%n",
            name,
            Units.decimal((double) parameters, ""),
            positions,
            model.source());
      }
    }
    if (json) {
      out.println("{\"models\": [" + array + "]}");
    } else {
      out.println("and with parameters: " + String.join("; ", Models.forms()));
    }
    return 0;
  }
}
