package dev.pipewright.bench.runtime;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** Networks and strategies that up to two worker processes of this machine are measured with. */
final class MeasuredStrategies {
  /**
   * A network that is trained.
   *
   * @param steps so many that the later half of them takes seconds and finds code compiled: half of
   *     21 steps of a language model in stages took 85 ms each, half of 61 took 77. The lower
   *     quartile of 30 steps is 2.1 % off, one standard deviation, that of 100 steps 1.1 %
   */
  record Case(String network, int batch, int steps) {}

  private static final String PROFILE = "profile.json";
  private static final String CLUSTER = "cluster.yaml";
  private static final String PERCEPTRON = "mlp-8x1024";
  private static final String CONVOLUTIONS = "cnn-64-128-256";
  private static final String LANGUAGE =
      "gpt:layers=4,hidden=256,heads=4,sequence=64,vocabulary=256";

  /** Most of which are the scores of its words and their table, which is read twice. */
  private static final String WORDS =
      "gpt:layers=2,hidden=128,heads=4,sequence=64,vocabulary=20000";

  static final List<Case> CASES =
      List.of(
          new Case(PERCEPTRON, 256, 101),
          new Case(CONVOLUTIONS, 16, 101),
          new Case(LANGUAGE, 8, 101),
          new Case(WORDS, 8, 101));

  /**
   * A way to train.
   *
   * @param planner who finds it for the profiled network; none where the flags say all
   * @param networks that it is for
   */
  record Strategy(
      String name, Optional<String> planner, List<String> flags, List<String> networks) {
    boolean isFor(Case each) {
      return networks.contains(each.network());
    }

    private static Strategy of(String name, String flags) {
      return of(name, flags, PERCEPTRON, CONVOLUTIONS, LANGUAGE, WORDS);
    }

    private static Strategy asyncPipeline(String name, String flags) {
      return of(name, "--stages 2 --schedule " + flags);
    }

    /** Refused where first and last layers share parameters. */
    private static Strategy migrating(String name) {
      return of(name, "--stages 2 --schedule " + name, PERCEPTRON, CONVOLUTIONS);
    }

    private static Strategy of(String name, String flags, String... networks) {
      return new Strategy(name, Optional.empty(), List.of(flags.split(" ")), List.of(networks));
    }

    private static Strategy planned(String name, String planner) {
      return new Strategy(
          name, Optional.of(planner), List.of(), CASES.stream().map(Case::network).toList());
    }
  }

  /**
   * Strategies that are predicted from the same profile.
   *
   * @param workers that compute at once
   * @param parts of the batch that workers compute one by one
   */
  record Kind(int workers, List<Integer> parts, List<Strategy> strategies) {
    private String batches(int batch) {
      return parts.stream().map(each -> "" + batch / each).collect(Collectors.joining(","));
    }
  }

  static final List<Kind> KINDS =
      List.of(
          new Kind(
              1,
              List.of(2, 1),
              List.of(
                  Strategy.of("serial", "--replicas 1"),
                  Strategy.asyncPipeline("cyclic-v2-single", "cyclic-v2-single"))),
          new Kind(
              2,
              List.of(8, 4, 2, 1),
              List.of(
                  Strategy.of("data", "--replicas 2"),
                  Strategy.of("zero-1", "--replicas 2 --zero 1"),
                  Strategy.of("zero-2", "--replicas 2 --zero 2"),
                  Strategy.of("zero-3", "--replicas 2 --zero 3"),
                  Strategy.of("filter", "--tensor-parallel filter:2", PERCEPTRON, CONVOLUTIONS),
                  Strategy.of("channel", "--tensor-parallel channel:2", PERCEPTRON, CONVOLUTIONS),
                  Strategy.of("spatial", "--spatial-parallel 2", CONVOLUTIONS),
                  Strategy.of("tensor", "--tensor-parallel tensor:2", LANGUAGE, WORDS),
                  Strategy.of("sequence", "--tensor-parallel sequence:2", LANGUAGE, WORDS),
                  Strategy.of("gpipe", "--stages 2 --micro-batches 8 --schedule gpipe"),
                  Strategy.of("1f1b", "--stages 2 --micro-batches 8 --schedule 1f1b"),
                  Strategy.of(
                      "interleaved",
                      "--stages 2 --micro-batches 8 --schedule interleaved --chunks 2"),
                  Strategy.of("zb-h1", "--stages 2 --micro-batches 8 --schedule zb-h1"),
                  Strategy.of("chimera", "--stages 2 --micro-batches 4 --schedule chimera"),
                  Strategy.asyncPipeline("pipedream", "pipedream"),
                  Strategy.asyncPipeline("pipedream, vertical sync", "pipedream --vertical-sync"),
                  Strategy.asyncPipeline("pipedream-2bw", "pipedream-2bw"),
                  Strategy.asyncPipeline("cyclic-v1", "cyclic-v1"),
                  Strategy.asyncPipeline("cyclic-v2", "cyclic-v2"),
                  Strategy.asyncPipeline("cyclic-v2-pipeline", "cyclic-v2-pipeline"),
                  Strategy.migrating("cyclic-v1-zero"),
                  Strategy.migrating("cyclic-v2-zero"),
                  Strategy.planned("periodic", "madpipe"))));

  private MeasuredStrategies() {}

  /** Measures the network and the links for a kind of strategies; the answer. */
  static JsonNode profile(Case of, Kind kind, Path folder) {
    List<String> command = new ArrayList<>(List.of("./pipewright", "profile", of.network()));
    command.addAll(List.of("--batches", kind.batches(of.batch())));
    command.addAll(List.of("--workers", "" + kind.workers(), "--links", "2", "--repeats", "7"));
    command.addAll(List.of("--optimizer", "momentum", "--out", folder.toString(), "--json"));
    return Answers.of(command);
  }

  /** What is predicted by the profile in a folder beside what is measured. */
  static JsonNode compare(Case of, Strategy strategy, int steps, Path folder) {
    List<String> command = new ArrayList<>(List.of("./pipewright", "compare"));
    if (strategy.planner().isPresent()) {
      command.add(plan(of, strategy.planner().get(), folder).toString());
    } else {
      command.addAll(List.of(of.network(), "--global-batch", "" + of.batch()));
      command.addAll(List.of("--profile", folder.resolve(PROFILE).toString()));
      command.addAll(List.of("--cluster", folder.resolve(CLUSTER).toString()));
    }
    command.addAll(strategy.flags());
    command.addAll(List.of("--optimizer", "momentum", "--steps", "" + steps, "--json"));
    return Answers.of(command);
  }

  /** The file of a plan for the profile in a folder. */
  private static Path plan(Case of, String planner, Path folder) {
    List<String> command = new ArrayList<>(List.of("./pipewright", "plan"));
    command.add(folder.resolve(PROFILE).toString());
    command.addAll(List.of("--cluster", folder.resolve(CLUSTER).toString()));
    command.addAll(List.of("--planner", planner, "--global-batch", "" + of.batch()));
    command.addAll(List.of("--out", folder.resolve(planner).toString(), "--json"));
    Answers.of(command);
    return folder.resolve(planner).resolve("plan.json");
  }

  /** By how much something is off, as text. */
  static String change(double error) {
    return "%+.1f %%".formatted(100 * error).replace('-', '−');
  }
}
