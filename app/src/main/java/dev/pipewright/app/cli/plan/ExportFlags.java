package dev.pipewright.app.cli.plan;

import dev.pipewright.formats.export.ExportOptions;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How plans are exported, apart from the target. */
public final class ExportFlags {
  @Option(
      names = "--nearest",
      description =
          "Export the nearest plan that the target can say, where it cannot say the plan itself.")
  boolean nearest;

  @Option(
      names = "--around",
      paramLabel = "TARGET",
      description =
          "Whose files sbatch, trainjob and jobset start. Default: megatron for decoders, torch for"
              + " other networks.")
  @Nullable String around;

  @Option(
      names = "--torchtitan-version",
      paramLabel = "VERSION",
      description =
          "Of the torchtitan that reads the files, like 0.2: TOML up to 0.2.2, a recipe in Python"
              + " otherwise, which is the default.")
  @Nullable String torchtitanVersion;

  /**
   * The target to whose plans a search keeps; empty where the nearest plan is to be exported
   * instead.
   *
   * @param export the target, where there is one
   */
  Optional<Target> searched(@Nullable String export) {
    return nearest || export == null
        ? Optional.empty()
        : Optional.of(new Target(export, Optional.ofNullable(around)));
  }

  /**
   * A target of exports by name.
   *
   * @param around whose files a launcher's start
   */
  record Target(String name, Optional<String> around) {}

  /** Whether any of them is given. */
  boolean given() {
    return nearest || around != null || torchtitanVersion != null;
  }

  ExportOptions options() {
    return new ExportOptions(Optional.ofNullable(around), Optional.ofNullable(torchtitanVersion));
  }
}
