package dev.pipewright.app.cli.plan;

import dev.pipewright.formats.export.ExportCatalog;
import dev.pipewright.formats.file.BadInputException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The framework for which a plan that was searched is also written. */
final class PlanExportFlags {
  private static final String OPTION = "--export";

  @Option(
      names = OPTION,
      paramLabel = "TARGET",
      description =
          "Also write the plan for another framework, as `export` does: with the other files, or"
              + " after the answer. The search keeps to plans that the framework can say; with"
              + " --nearest it does not, and the nearest one is written.")
  private @Nullable String target;

  @Mixin private ExportFlags flags = new ExportFlags();

  /**
   * Throws where there is no such target, or nothing to export for it.
   *
   * @param front whether several plans are found
   */
  void check(boolean front) {
    if (target != null && front) {
      throw new BadInputException(
          "--export: is for one plan, and --front has several; leave it out, and export a file of the front");
    }
    if (target != null) {
      ExportCatalog.named(OPTION, target, flags.options());
    } else if (flags.given()) {
      throw new BadInputException(
          "--nearest, --around and --torchtitan-version: are for exports; add --export TARGET");
    }
  }

  /** The files that it writes. */
  List<String> fileNames() {
    return target == null
        ? List.of()
        : ExportCatalog.named(OPTION, target, flags.options()).fileNames();
  }

  /** The target to whose plans the search keeps, where there is one. */
  Optional<ExportFlags.Target> searched() {
    return flags.searched(target);
  }

  /**
   * Exports the plan of an answer, where that is wanted.
   *
   * @param planner that found it
   */
  Optional<PlanExporter.Outcome> of(PlannerAnswer answer, String planner) {
    if (target == null) {
      return Optional.empty();
    }
    PlanExporter exporter =
        answer
            .exporter()
            .orElseThrow(() ->
                new BadInputException(
                    "--export: is for plans of synchronous steps with times, and %s finds others; leave it out"
                        .formatted(planner)));
    return Optional.of(exporter.export(OPTION, target, flags));
  }
}
