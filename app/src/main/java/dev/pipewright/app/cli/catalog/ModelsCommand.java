package dev.pipewright.app.cli.catalog;

import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.text.WordTable;
import dev.pipewright.formats.answer.TransformerJson;
import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.model.DescribedModel;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.model.TransformerFile;
import dev.pipewright.formats.problem.NetworkNames;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.units.Units;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.Transformers;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "models",
    description =
        "Lists the networks that need no file, or shows one network, of the zoo or in a file: its"
            + " shape, its parameters and its arithmetic.",
    footer = {
      "",
      "Examples:",
      "  pipewright models",
      "  pipewright models gpt",
      "  pipewright models deepseek-v3",
      "  pipewright models config.json --sequence 8192 --json"
    })
public final class ModelsCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "WORD",
      description =
          "Only those whose name or source has this word, or the network of this name or in this"
              + " file.")
  private @Nullable String word;

  @Option(
      names = "--sequence",
      paramLabel = "N",
      description =
          "Tokens of the sequence that a transformer's FLOP for a token are for. Default: its"
              + " longest up to 8192, otherwise 4096.")
  private @Nullable Integer sequence;

  @Option(names = "--model-format", paramLabel = "FORMAT", description = ModelArgument.FORMATS)
  private @Nullable String modelFormat;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  ModelsCommand() {
    this.spec = CommandSpec.create();
  }

  /** A line of the list. */
  private record Listed(String name, long parameters, int layers, int positions, String source) {}

  /** One network: its members for JSON, its text, and what to note. */
  private record Shown(Map<String, Object> members, String text) {}

  @Override
  public Integer call() {
    if (sequence != null && sequence < 1) {
      throw new BadInputException(
          "--sequence: " + sequence + " is no length; give a whole number >= 1");
    }
    PrintWriter out = spec.commandLine().getOut();
    List<Listed> listed = listed();
    Optional<Shown> shown = shown(listed);
    if (listed.isEmpty() && shown.isEmpty()) {
      throw new BadInputException("no model '" + word + "'; " + NetworkNames.meant(word + ""));
    }
    if (json) {
      if (shown.isEmpty()) {
        out.println("{\"models\": [" + list(listed) + "]}");
      } else {
        out.print(answer(shown.get(), listed));
      }
      return 0;
    }
    if (!listed.isEmpty()) {
      WordTable table = new WordTable().text("name").numbers("parameters", "layers");
      table.text("source");
      for (Listed each : listed) {
        table.row(
            each.name(),
            Units.decimal((double) each.parameters(), ""),
            each.positions(),
            each.source());
      }
      out.print(table.in(Terminal.columns(), Terminal.colours()));
    }
    shown.ifPresent(one -> out.print((listed.isEmpty() ? "" : "\n") + one.text()));
    if (word == null) {
      out.println("\nOf any size, with what is given here by default:");
      Models.forms().forEach(form -> out.print(Terminal.sentence("  " + form)));
    }
    return 0;
  }

  private static String answer(Shown shown, List<Listed> listed) {
    String text = JsonText.of(shown.members());
    if (listed.isEmpty()) {
      return text;
    }
    String head = text.substring(0, text.lastIndexOf("\n}"));
    return head + ",\n  \"models\": [" + list(listed) + "]\n}\n";
  }

  private static String list(List<Listed> listed) {
    StringBuilder array = new StringBuilder();
    for (Listed each : listed) {
      array
          .append(array.isEmpty() ? "" : ", ")
          .append(
              String.format(
                  Locale.ROOT,
                  "{\"name\": \"%s\", \"parameters\": %d, \"layers\": %d, \"positions\": %d}",
                  each.name(),
                  each.parameters(),
                  each.layers(),
                  each.positions()));
    }
    return array.toString();
  }

  /** All, or those with the word. */
  private List<Listed> listed() {
    List<Listed> all = new ArrayList<>();
    for (String name : Models.names()) {
      all.add(layered(name, Models.find(name).orElseThrow().source()));
    }
    for (String name : Transformers.names()) {
      all.add(shaped(Transformers.find(name).orElseThrow()));
    }
    if (word == null) {
      return all;
    }
    String letters = word.toLowerCase(Locale.ROOT);
    List<Listed> found =
        all.stream()
            .filter(each ->
                each.name().contains(letters)
                    || each.source().toLowerCase(Locale.ROOT).contains(letters))
            .toList();
    return found.isEmpty() ? sized(word).map(List::of).orElse(found) : found;
  }

  /** A network that is not listed, but has a name with sizes. */
  private static Optional<Listed> sized(String name) {
    return NetworkNames.namedTransformer(name)
        .map(ModelsCommand::shaped)
        .or(() -> NetworkNames.zooModel(name).map(zoo -> layered(name, zoo.source())));
  }

  /** With its graph's layers where there is one; else its blocks, embedding and head. */
  private static Listed shaped(Transformers.Named found) {
    long parameters = found.shape().parameters(); // without those of multi-token prediction
    try {
      Listed graph = layered(found.name(), found.source());
      return new Listed(
          found.name(), parameters, graph.layers(), graph.positions(), found.source());
    } catch (IllegalArgumentException e) {
      int layers = found.shape().layers() + 2;
      return new Listed(found.name(), parameters, layers, layers, found.source());
    }
  }

  private static Listed layered(String name, String source) {
    LayerGraph graph = Models.find(name).orElseThrow().graph();
    return new Listed(name, graph.parameters(), graph.size(), Chain.of(graph).size(), source);
  }

  /** The network that the word names, where it does not merely filter. */
  private Optional<Shown> shown(List<Listed> listed) {
    if (word == null) {
      return Optional.empty();
    }
    String name = word;
    boolean filters =
        !listed.isEmpty() && listed.stream().noneMatch(each -> each.name().equals(name));
    if (filters) {
      return Optional.empty();
    }
    Optional<Transformers.Named> transformer = NetworkNames.namedTransformer(name);
    if (transformer.isPresent()) {
      Transformers.Named found = transformer.get();
      return Optional.of(shown(name, found.source(), found.shape(), List.of()));
    }
    if (!listed.isEmpty()) {
      return Optional.of(
          layers(name, listed.get(0).source(), Models.find(name).orElseThrow().graph()));
    }
    Path file = FileNames.file("the model", name);
    if (!Files.exists(file) && !name.equals("-")) {
      FileNames.requireNoPath("model", name);
      return Optional.empty();
    }
    DescribedModel described =
        ModelFiles.described(file, OptionalInt.of(1), Optional.ofNullable(modelFormat));
    return Optional.of(
        switch (described) {
          case TransformerFile read ->
              shown(read.name(), read.source(), read.shape(), read.notes());
          case ModelFile read -> layers(read.graph().name(), name, read.graph());
        });
  }

  private Shown shown(String name, String source, TransformerShape shape, List<String> notes) {
    int tokens = sequence == null ? shape.usualSequence() : sequence;
    Map<String, Object> members = JsonText.pair("name", name, "source", source);
    members.putAll(TransformerJson.members(shape, tokens));
    members.put("notes", notes);
    StringBuilder text = new StringBuilder(Terminal.sentence(name + ": " + source));
    text.append(TransformerText.of(shape, tokens));
    notes.forEach(note -> text.append(Terminal.sentence("  " + note, 2)));
    return new Shown(members, text.toString());
  }

  /** A network of layers, whose parameters are all active. */
  private static Shown layers(String name, String source, LayerGraph graph) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", name);
    members.put("source", source);
    members.put("parameters", graph.parameters());
    members.put("active_parameters", graph.parameters());
    members.put("layers", graph.size());
    double flop = graph.layers().stream().mapToDouble(layer -> layer.work().forward()).sum();
    members.put("forward_flops_per_sample", flop);
    String work =
        flop == 0 ? "" : ", %s forward for a sample".formatted(Units.decimal(flop, "FLOP"));
    String text =
        "%s: %s parameters in %d layers%s"
            .formatted(
                name, String.format(Locale.ROOT, "%,d", graph.parameters()), graph.size(), work);
    return new Shown(members, Terminal.sentence(text));
  }
}
