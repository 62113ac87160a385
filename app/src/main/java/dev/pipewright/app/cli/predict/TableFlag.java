package dev.pipewright.app.cli.predict;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.oracle.CalibratedConstantsJson;
import dev.pipewright.formats.oracle.PredictedTable;
import dev.pipewright.formats.oracle.TrainingTable;
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
          "Predict with these constants, which calibrate fitted to runs of one machine, instead of"
              + " the built-in ones.")
  private @Nullable Path constants;

  boolean isGiven() {
    return table != null;
  }

  /** Throws where constants are given without a table that they could be used for. */
  void refuseAlone() {
    if (constants != null && table == null) {
      throw new BadInputException("--constants: is for --table; add it, or leave this out");
    }
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
    PredictedTable predicted =
        constants == null
            ? PredictedTable.of(read)
            : PredictedTable.of(read, CalibratedConstantsJson.read(constants).calibrated());
    if (!read.unknown().isEmpty()) {
      spec.commandLine()
          .getErr()
          .println("columns that predictions do not read: " + String.join(", ", read.unknown()));
    }
    spec.commandLine().getOut().print(json ? predicted.json() : predicted.csv());
    return 0;
  }
}
