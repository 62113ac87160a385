package dev.pipewright.app.cli.schedule;

import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.text.WordTable;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "schedules",
    description =
        "Lists the published schedules: chunks and copies of the parameters on a rank, activations,"
            + " the numbers of ranks and micro-batches that suit, the bubble, and the paper.",
    footer = {
      "",
      "Examples:",
      "  pipewright schedules",
      "  pipewright schedules zb",
      "  pipewright schedules --json"
    })
public final class SchedulesCommand implements Callable<Integer> {
  /** What the columns mean. */
  public static final String NOTE =
      ("p ranks, m micro-batches of all directions, v chunks on each rank; F, B and W are a rank's"
              + " times of a micro-batch's forward pass and of the gradients of inputs and of weights."
              + " The bubble is the longest span from a rank's first op to its last, less its work:"
              + " transfers are free, nothing overlaps, W ≤ B and F ≤ B + W. Parameter copies: what"
              + " ranks hold together; where there are two, parameters and gradients take twice the"
              + " memory, and an optimizer that is not sharded, too. Peak activations: of the fullest"
              + " of %d ranks with %d micro-batches and equal passes, in micro-batches of its share"
              + " of the network.")
          .formatted(ScheduleFacts.RANKS, ScheduleFacts.MICRO_BATCHES);

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "WORD",
      description = "Only those whose name or paper has this word.")
  private @Nullable String word;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  SchedulesCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    List<ScheduleFacts> all = listed().stream().map(ScheduleFacts::of).toList();
    if (json) {
      Map<String, Object> object = new LinkedHashMap<>();
      object.put("schedules", all.stream().map(ScheduleFacts::object).toList());
      out.print(JsonText.of(object));
      return 0;
    }
    WordTable table = new WordTable();
    ScheduleFacts.headings().forEach(heading -> table.text(heading.replace(' ', '\n')));
    all.forEach(facts -> table.row(facts.cells().toArray()));
    out.print(table.in(Terminal.columns(), Terminal.colours()));
    out.print("\n" + Terminal.sentence(NOTE));
    return 0;
  }

  private List<ScheduleEntry> listed() {
    List<ScheduleEntry> all = ScheduleCatalog.entries();
    if (word == null) {
      return all;
    }
    String letters = word.toLowerCase(Locale.ROOT);
    List<ScheduleEntry> found =
        all.stream()
            .filter(entry ->
                (entry.name() + " " + entry.published().paper())
                    .toLowerCase(Locale.ROOT)
                    .contains(letters))
            .toList();
    if (found.isEmpty()) {
      throw new BadInputException(
          "no schedule '%s'; %s"
              .formatted(
                  word, Suggestion.of(word, all.stream().map(ScheduleEntry::name).toList())));
    }
    return found;
  }
}
