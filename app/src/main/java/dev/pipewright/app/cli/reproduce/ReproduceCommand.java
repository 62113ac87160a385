package dev.pipewright.app.cli.reproduce;

import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.formats.json.JsonText;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "reproduce",
    description = "Computes a published table or figure again; without a name, lists them.",
    footer = {
      "",
      "Reference data is what the papers' authors and others measured: a folder with one folder for",
      "each source, or the archive pipewright-reference of the release, which has those parts that",
      "may be passed on.",
      "",
      "Examples:",
      "  pipewright reproduce",
      "  pipewright reproduce table8",
      "  pipewright reproduce figure3 --data reference --out reproduced"
    })
public final class ReproduceCommand implements Callable<Integer> {
  /** No folder: results that reference data only adds to leave that out. */
  private static final Path NO_DATA = Path.of("--data");

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "NAME",
      description = "A table or figure, such as table8; all are listed without it.")
  private @Nullable String name;

  @Option(
      names = "--data",
      paramLabel = "DIR|ARCHIVE",
      description = "The reference data: a folder, or a .tar.gz or .zip of it.")
  private @Nullable Path data;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Write NAME.md and, where there is a figure, NAME.svg.")
  private @Nullable Path out;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  ReproduceCommand() {
    this.spec = CommandSpec.create(); // until picocli sets the real one
  }

  @Override
  public Integer call() {
    List<PublishedResult> all =
        ServiceLoader.load(PublishedResult.class).stream()
            .map(ServiceLoader.Provider::get)
            .toList();
    if (all.isEmpty()) {
      throw new BadInputException(
          "no reproductions are installed; packages have them, and in a checkout `mvn --batch-mode"
              + " -DskipTests package` builds them");
    }
    PrintWriter printer = spec.commandLine().getOut();
    String wanted = name;
    if (wanted == null) {
      printer.print(json ? JsonText.of(Map.of("results", listed(all))) : text(all));
      return 0;
    }
    PublishedResult one =
        all.stream()
            .filter(each -> each.name().equals(wanted))
            .findFirst()
            .orElseThrow(() -> new BadInputException(unknown(wanted, all)));
    try (ReferenceData given = data == null ? null : ReferenceData.of(data)) {
      Path folder = given == null ? NO_DATA : given.folder(one.needs());
      require(one, folder);
      show(one, one.find(folder), printer);
    }
    return 0;
  }

  private void require(PublishedResult one, Path folder) {
    List<String> missing =
        one.needs().stream().filter(need -> !Files.isDirectory(folder.resolve(need))).toList();
    if (!missing.isEmpty()) {
      throw new BadInputException(
          "--data: %s needs %s of the reference data, which %s; give a folder or an archive that has"
                  .formatted(
                      one.name(),
                      String.join(" and ", missing),
                      data == null ? "is not given" : data + " does not have")
              + " it (docs/reproductions.md says where to get it)");
    }
  }

  private void show(PublishedResult one, PublishedResult.Found found, PrintWriter printer) {
    String text = found.markdown().strip() + "\n";
    String[] names =
        found.svg().isPresent()
            ? new String[] {one.name() + ".md", one.name() + ".svg"}
            : new String[] {one.name() + ".md"};
    try (OutputFolder folder = OutputFolder.of(out, names)) {
      if (json) {
        printer.print(JsonText.of(Map.of("name", one.name(), "markdown", text)));
      } else {
        printer.print(text);
      }
      if (folder != null) {
        folder.write(names[0], text);
        found.svg().ifPresent(svg -> folder.write(names[1], svg));
        spec.commandLine().getErr().println("wrote " + String.join(", ", names) + " to " + folder);
      }
    }
  }

  private static String unknown(String wanted, List<PublishedResult> all) {
    List<String> names = all.stream().map(PublishedResult::name).toList();
    return "NAME: no result is called '%s'; %s"
        .formatted(
            wanted, Suggestion.near(wanted, names).orElse("`pipewright reproduce` lists them"));
  }

  private static List<Map<String, Object>> listed(List<PublishedResult> all) {
    return all.stream()
        .map(one -> {
          Map<String, Object> object = new LinkedHashMap<>();
          object.put("name", one.name());
          object.put("summary", one.summary());
          object.put("needs", one.needs());
          return object;
        })
        .toList();
  }

  private static String text(List<PublishedResult> all) {
    StringBuilder text = new StringBuilder();
    for (PublishedResult one : all) {
      String head = "%-24s ".formatted(one.name());
      String data = one.needs().isEmpty() ? "" : " (needs " + String.join(", ", one.needs()) + ")";
      text.append(Terminal.sentence(head + one.summary() + data, head.length()));
    }
    return text.toString();
  }
}
