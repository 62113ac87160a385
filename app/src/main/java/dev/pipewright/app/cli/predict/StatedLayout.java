package dev.pipewright.app.cli.predict;

import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.predict.paradl.Strategy;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** Whether a command line states the layout of a transformer, instead of asking for strategies. */
final class StatedLayout {
  /** Options that go with one, but for those of {@link LayoutFlags}. */
  private static final Set<String> OTHERS =
      Set.of(
          "--cluster",
          "--model-format",
          "--memory",
          "--memory-reserve",
          "--optimizer",
          "--precision",
          "--gradients",
          "--devices",
          "--batch-per-device",
          "--global-batch",
          "--tensor-parallel",
          "--pipeline-parallel",
          "--data-parallel",
          "--micro-batch",
          "--recompute",
          "--interleave",
          "--constants",
          "--out",
          "--json",
          "--debug");

  private StatedLayout() {}

  /**
   * The layout; empty where strategies are asked. A degree states one where all other options go
   * with it and the network and its machine are known, where {@code --strategies} is given only the
   * degrees of tensor and pipeline parallelism together; the options of {@link LayoutFlags} need
   * one.
   */
  static Optional<LayoutRequest> of(
      CommandSpec spec,
      String model,
      ModelArgument arguments,
      DegreeFlags degrees,
      LayoutFlags layout) {
    ParseResult given = spec.commandLine().getParseResult();
    Optional<String> layoutFlag = first(given, StatedLayout::belongs);
    boolean strategies = given.hasMatchedOption("--strategies");
    Optional<String> foreign =
        first(given, option -> !belongs(option) && !agrees(option, strategies));
    boolean stated = strategies ? degrees.stateLayout() : degrees.stateDegree();
    if (layoutFlag.isEmpty() && (!stated || foreign.isPresent())) {
      return Optional.empty();
    }
    Optional<LayoutRequest> request = LayoutRequest.of(model, arguments, degrees, layout);
    if (layoutFlag.isPresent() && request.isEmpty()) {
      throw LayoutRequest.unknown(layoutFlag.get(), model, arguments);
    }
    if (layoutFlag.isPresent() && foreign.isPresent()) {
      throw new BadInputException(
          "%s: does not go with %s, which is part of a stated layout; leave one of them out"
              .formatted(foreign.get(), layoutFlag.get()));
    }
    return request;
  }

  private static Optional<String> first(ParseResult given, Predicate<OptionSpec> wanted) {
    return given.matchedOptions().stream().filter(wanted).map(OptionSpec::longestName).findFirst();
  }

  private static boolean belongs(OptionSpec option) {
    return LayoutFlags.NAMES.contains(option.longestName());
  }

  /** A schedule goes with strategies where these are given, too. */
  private static boolean agrees(OptionSpec option, boolean strategies) {
    if (option.longestName().equals("--schedule")) {
      return !strategies;
    }
    return option.longestName().equals("--strategies")
        ? dividesBlocks(option.<String>getValue())
        : OTHERS.contains(option.longestName());
  }

  private static boolean dividesBlocks(String strategies) {
    return Arrays.stream(strategies.split(",", -1))
        .map(word -> Strategy.find(word.strip()))
        .allMatch(strategy -> strategy.isPresent() && strategy.get().dividesFeatures());
  }
}
