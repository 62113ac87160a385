package dev.pipewright.app.cli.predict;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.oracle.CalibratedConstantsJson;
import dev.pipewright.formats.oracle.PredictedTable;
import dev.pipewright.formats.oracle.TrainingTable;
import dev.pipewright.predict.transformer.CalibratedConstants;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/** Predicts the training runs of transformers that a table lists. */
final class TableFlag {
  private static final List<String> WITH_TABLE =
      List.of("--table", "--constants", "--json", "--debug");

  @Option(
      names = "--table",
      paramLabel = "FILE.csv",
      description =
          "Predict each row instead: a training run of a transformer, a column for each setting"
              + " (docs/formats.md). Prints the table with predicted columns.")
  private @Nullable Path table;

  @Option(
      names = "--constants",
      paramLabel = "FILE.json",
      description =
          "Predict a table, a stated layout or a search with these constants, which calibrate fitted"
              + " to runs of one machine, instead of the built-in ones.")
  private @Nullable Path constants;

  boolean isGiven() {
    return table != null;
  }

  /** Throws where constants are given to strategies, which have no use for them. */
  void refuseAlone() {
    if (constants != null) {
      throw new BadInputException(
          "--constants: is for a --table, a transformer's stated layout or --search; give one (--tensor and --pipeline state a layout), or leave this out");
    }
  }

  /** The constants that predict steps of transformers: the given ones or the built-in ones. */
  CalibratedConstants constants() {
    return constants == null
        ? CalibratedConstantsJson.read()
        : CalibratedConstantsJson.read(constants).calibrated();
  }

  /** Throws where other arguments are given, which do not go with a table. */
  void refuseOthers(CommandSpec spec, String model) {
    if (!model.isEmpty()) {
      throw new BadInputException(
          "--table: its rows describe the networks; leave out '" + model + "'");
    }
    for (OptionSpec option : spec.commandLine().getParseResult().matchedOptions()) {
      if (!WITH_TABLE.contains(option.longestName())) {
        throw new BadInputException(
            option.longestName()
                + ": does not go with --table, whose rows say how they train; leave it out");
      }
    }
  }

  /** Prints the answer; returns the exit status. */
  int answer(CommandSpec spec, boolean json) {
    TrainingTable read = TrainingTable.read(Path.of(String.valueOf(table)));
    PredictedTable predicted = PredictedTable.of(read, constants());
    if (!read.unknown().isEmpty()) {
      spec.commandLine()
          .getErr()
          .println("columns that predictions do not read: " + String.join(", ", read.unknown()));
    }
    spec.commandLine().getOut().print(json ? predicted.json() : predicted.csv());
    return 0;
  }
}
