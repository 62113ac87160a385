package dev.pipewright.app.cli.catalog;

import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.text.WordTable;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.NetworkNames;
import dev.pipewright.model.Chain;
import dev.pipewright.units.Units;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "models",
    description = "Lists the networks that need no file.",
    footer = {"", "Examples:", "  pipewright models", "  pipewright models gpt"})
public final class ModelsCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "WORD",
      description = "Only those whose name or source has this word, or the network of this name.")
  private @Nullable String word;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  ModelsCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    StringBuilder array = new StringBuilder();
    WordTable table = new WordTable().text("name").numbers("parameters", "layers");
    table.text("source");
    for (ZooModel model : shown()) {
      String name = model.name();
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
        table.row(name, Units.decimal((double) parameters, ""), positions, model.source());
      }
    }
    if (json) {
      out.println("{\"models\": [" + array + "]}");
      return 0;
    }
    out.print(table.in(Terminal.columns(), Terminal.colours()));
    if (word == null) {
      out.println("\nOf any size, with what is given here by default:");
      Models.forms().forEach(form -> out.print(Terminal.sentence("  " + form)));
    }
    return 0;
  }

  /** All, those with the word, or the one that it names. */
  private List<ZooModel> shown() {
    List<ZooModel> all =
        Models.names().stream().map(name -> Models.find(name).orElseThrow()).toList();
    if (word == null) {
      return all;
    }
    String wanted = word;
    Optional<ZooModel> one = NetworkNames.zooModel(wanted);
    String letters = wanted.toLowerCase(Locale.ROOT);
    List<ZooModel> found =
        all.stream()
            .filter(model ->
                model.name().contains(letters)
                    || model.source().toLowerCase(Locale.ROOT).contains(letters))
            .toList();
    if (found.isEmpty() && one.isPresent()) {
      return List.of(one.get());
    }
    if (found.isEmpty()) {
      throw new BadInputException("no model '" + wanted + "'; " + NetworkNames.meant(wanted));
    }
    return found;
  }
}
