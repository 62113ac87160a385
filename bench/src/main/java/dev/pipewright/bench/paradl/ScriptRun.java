package dev.pipewright.bench.paradl;

import dev.pipewright.predict.paradl.Strategy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * One run of the program of ParaDL's authors.
 *
 * @param network the file that it read
 * @param switches the file that says which layers are split, empty where all are
 * @param kind its letters for the strategy
 * @param failed whether it ended with an error
 */
record ScriptRun(
    String id,
    String network,
    Optional<String> switches,
    String kind,
    boolean failed,
    List<Answer> answers) {

  /**
   * What it prints for one number of devices, over an epoch.
   *
   * @param memory bytes of a device
   */
  record Answer(
      Strategy strategy,
      int devices,
      long batch,
      double communication,
      double compute,
      double memory) {
    static Answer of(JsonNode result) {
      return new Answer(
          strategy(result.path("name").asString()),
          (int) result.path("p").asDouble(),
          (long) result.path("B").asDouble(),
          result.path("Tcomm").asDouble(),
          result.path("Tcomp").asDouble(),
          result.path("mMem").asDouble());
    }

    private static Strategy strategy(String name) {
      return switch (name) {
        case "single" -> Strategy.SERIAL;
        case "data" -> Strategy.DATA;
        case "spatial" -> Strategy.SPATIAL;
        case "filter1", "filter3" -> Strategy.FILTER;
        case "chan1", "chan3" -> Strategy.CHANNEL;
        case "df" -> Strategy.DATA_FILTER;
        case "ds" -> Strategy.DATA_SPATIAL;
        default -> throw new IllegalArgumentException("no strategy is called " + name);
      };
    }
  }

  static ScriptRun of(JsonNode run) {
    JsonNode inputs = run.path("inputs");
    List<Answer> answers = new ArrayList<>();
    for (JsonNode result : run.path("results")) {
      answers.add(Answer.of(result));
    }
    return new ScriptRun(
        run.path("id").asString(),
        inputs.path("net").asString(),
        inputs.path("lc").isNull() ? Optional.empty() : Optional.of(inputs.path("lc").asString()),
        inputs.path("paratype").asString(),
        !run.path("error").isNull(),
        answers);
  }
}
