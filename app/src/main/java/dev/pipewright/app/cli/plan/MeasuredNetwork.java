package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.host.ProfileTool;
import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;

/**
 * A network of PyTorch that is measured before it is planned. The profile stays in the current
 * folder and is used until the network's file changes.
 */
final class MeasuredNetwork {
  private static final Pattern NAMED = Pattern.compile("(.+\\.py):([A-Za-z_]\\w*)");
  private static final String PROFILE = ".profile.json";
  private static final int MOST_MEASURED = 8; // samples; larger batches are extrapolated

  @Option(
      names = "--input",
      paramLabel = "SAMPLE",
      description =
          "Of FILE.py:NAME, where it gives no example: one sample, like 3x224x224 or"
              + " tokens:128:50257; once for each input.")
  private List<String> inputs = new ArrayList<>();

  /** Whether a model's name means a network of PyTorch. */
  boolean isMeant(String model) {
    return NAMED.matcher(model).matches();
  }

  /** Throws where there is no such file, or samples are given for another kind of network. */
  void check(String model) {
    Matcher named = NAMED.matcher(model);
    if (!named.matches()) {
      if (!inputs.isEmpty()) {
        throw new BadInputException(
            "--input: is for networks of PyTorch (FILE.py:NAME), and %s is none; leave it out"
                .formatted(model));
      }
    } else if (!Files.isRegularFile(FileNames.file("the model", named.group(1)))) {
      throw new BadInputException(
          "%s: no such file; give the file that has %s".formatted(named.group(1), named.group(2)));
    }
  }

  /**
   * Measures the network, if its profile is older than its file.
   *
   * @return the name of the profile
   */
  String profile(
      String model, ModelArgument arguments, SynchronousFlags synchronous, PrintWriter err) {
    Matcher named = NAMED.matcher(model);
    if (!named.matches()) {
      throw new IllegalStateException(model);
    }
    Path source = FileNames.file("the model", named.group(1));
    Path profile = Path.of(named.group(2) + PROFILE);
    if (isNewer(profile, source)) {
      err.printf("using %s, measured before; remove it to measure %s anew%n", profile, model);
      return profile.toString();
    }
    err.printf("measuring %s on this machine …%n", model);
    err.flush();
    ProfileTool.usual(err).measure(model, flags(arguments, synchronous.globalBatch()), profile);
    err.printf("wrote %s%n", profile);
    return profile.toString();
  }

  private List<String> flags(ModelArgument arguments, int globalBatch) {
    List<String> batches = new ArrayList<>();
    for (int samples = 1; samples <= Math.min(globalBatch, MOST_MEASURED); samples *= 2) {
      batches.add(Integer.toString(samples));
    }
    List<String> flags = new ArrayList<>(List.of("--batch", String.join(",", batches)));
    inputs.forEach(input -> flags.addAll(List.of("--input", input)));
    if (arguments.optimizer != null) {
      flags.addAll(List.of("--optimizer", arguments.optimizer));
    }
    if (arguments.precision != null) {
      flags.addAll(List.of("--precision", arguments.precision));
    }
    return flags;
  }

  private static boolean isNewer(Path profile, Path source) {
    try {
      return Files.exists(profile)
          && Files.getLastModifiedTime(profile).compareTo(Files.getLastModifiedTime(source)) > 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
