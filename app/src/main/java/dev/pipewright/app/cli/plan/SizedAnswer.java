package dev.pipewright.app.cli.plan;

import dev.pipewright.api.Planned;
import dev.pipewright.api.Problem;
import dev.pipewright.api.Sizing;
import dev.pipewright.api.Sizing.Trial;
import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.WordTable;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.cost.Throughput;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.planner.FlagValues;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.catalog.PlannerEntry;
import dev.pipewright.units.Units;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** A plan on a part of the cluster: the smallest that does, or the one that costs least. */
final class SizedAnswer extends FurtherAnswer {
  private static final double HOUR = 3600;
  private static final double MILLION = 1e6;

  private final Sizing sizing;
  private final SizingFlags flags;
  private final String cluster; // with its size, in words
  private final int devices;

  /**
   * Of sizes that were tried.
   *
   * @param answer of the chosen size, or of the largest that was planned
   */
  private SizedAnswer(
      Sizing sizing, SizingFlags flags, String cluster, int devices, Answer answer) {
    super(answer);
    this.sizing = sizing;
    this.flags = flags;
    this.cluster = cluster;
    this.devices = devices;
  }

  /** Tries sizes; throws {@link BadInputException} where the planner cannot be asked so. */
  static SizedAnswer of(
      PlannerEntry entry,
      String model,
      ModelArgument arguments,
      SynchronousFlags synchronous,
      FlagValues own,
      SizingFlags flags,
      @Nullable String objective,
      SearchDeadline patience) {
    String flag = flags.smallest() ? "--smallest-cluster" : "--objective " + objective;
    if (entry.steps().isEmpty() || entry.objective() != Objective.STEP_TIME) {
      throw new BadInputException(
          "%s: the planner %s does not make steps short; take another, like auto"
              .formatted(flag, entry.name()));
    }
    if (synchronous.evaluate().isPresent()) {
      throw new BadInputException(
          "%s: --evaluate scores a plan as it is; leave out one of them".formatted(flag));
    }
    synchronous.reasons().refuse("leave out " + flag);
    Problem problem =
        new Problem(
            arguments.named(model, Optional.empty(), OptionalInt.empty()),
            synchronous.options().withFlags(own));
    Sizing sizing =
        flags.smallest()
            ? Sizing.smallest(problem, entry.name(), flags.target(), patience)
            : Sizing.cheapest(problem, entry.name(), patience);
    Trial shown =
        sizing
            .chosen()
            .or(() ->
                sizing.trials().stream()
                    .filter(trial -> trial.planned().isPresent())
                    .reduce((smaller, larger) -> larger))
            .orElseThrow(); // the whole cluster is planned in any case
    Planned planned = shown.planned().orElseThrow();
    return new SizedAnswer(
        sizing,
        flags,
        problem.workload().devices().name(),
        problem.cluster().size(),
        StepAnswer.of(planned, arguments.profileBatch(), patience.ended()));
  }

  @Override
  public Optional<Answer> planned() {
    return sizing.chosen().flatMap(trial -> answer.planned());
  }

  @Override
  public Optional<String> nothing() {
    if (sizing.chosen().isPresent()) {
      return Optional.empty();
    }
    String failure = sizing.nextSmaller().map(Trial::failure).orElse("");
    String plain = failure.replaceFirst("^nothing fits: ", "");
    return Optional.of(
        failure.equals(plain)
            ? "on all %s of %s %s, and the target is %s; give a larger cluster or more time"
                .formatted(
                    Words.count(devices, "device"),
                    cluster,
                    failure,
                    Units.seconds(flags.target().orElse(0)))
            : plain);
  }

  @Override
  public boolean fits() {
    return sizing.chosen().isPresent() && answer.fits();
  }

  @Override
  public String json() {
    Map<String, Object> further = new LinkedHashMap<>();
    if (flags.smallest()) {
      further.put("smallest_cluster", smallest());
    } else {
      answer.planned().ifPresent(found -> further.put("cost", cost(found)));
    }
    further.put("sizes", sizing.trials().stream().map(SizedAnswer::object).toList());
    return JsonText.joined(answer.json(), further);
  }

  private Map<String, Object> smallest() {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("devices", sizing.chosen().map(Trial::devices));
    object.put("of", devices);
    flags.target().ifPresent(seconds -> object.put("target_s", seconds));
    object.put("next_smaller", sizing.nextSmaller().map(SizedAnswer::object));
    return object;
  }

  private static Map<String, Object> object(Trial trial) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("devices", trial.devices());
    trial.stepSeconds().ifPresent(seconds -> object.put("step_s", seconds));
    if (Double.isFinite(trial.deviceSeconds())) {
      object.put("device_s", trial.deviceSeconds());
    }
    if (!trial.succeeds()) {
      object.put("why", trial.failure());
    }
    return object;
  }

  private Map<String, Object> cost(Answer found) {
    Map<String, Object> object = new LinkedHashMap<>();
    double deviceSeconds = found.planning().value();
    object.put("device_s", deviceSeconds);
    Optional<Throughput> rate = found.training().flatMap(TrainingFigures::throughput);
    int used = found.planning().best().orElseThrow().plan().devices();
    rate.ifPresent(each -> object.put("samples_per_s_per_device", each.samplesPerSecond() / used));
    OptionalDouble tokens = rate.map(Throughput::tokensPerSecond).orElse(OptionalDouble.empty());
    tokens.ifPresent(each -> object.put("tokens_per_s_per_device", each / used));
    flags
        .price()
        .ifPresent(price -> {
          object.put("step_price", deviceSeconds / HOUR * price);
          rate.ifPresent(each ->
              object.put(
                  "million_samples_price",
                  MILLION / each.samplesPerSecond() * used / HOUR * price));
          tokens.ifPresent(
              each -> object.put("million_tokens_price", MILLION / each * used / HOUR * price));
        });
    return object;
  }

  @Override
  public void print(PrintWriter out) {
    answer.print(out);
    out.println();
    if (flags.smallest()) {
      out.print(Terminal.sentence(words()));
      return;
    }
    out.print(table());
    answer.planned().ifPresent(found -> out.print(Terminal.sentence(price(found))));
  }

  private String words() {
    int fewest = sizing.chosen().orElseThrow().devices();
    String reach =
        flags.target().isPresent()
            ? "on which a step takes at most " + Units.seconds(flags.target().getAsDouble())
            : "on which it fits";
    String smaller =
        sizing
            .nextSmaller()
            .map(next -> " On %d: %s.".formatted(next.devices(), next.failure()))
            .orElse("");
    return "%s of the %d of %s are the fewest %s.%s"
        .formatted(Words.count(fewest, "device"), devices, cluster, reach, smaller);
  }

  private String table() {
    WordTable table = new WordTable().numbers("devices", "step", "device-\nseconds");
    if (flags.price().isPresent()) {
      table.numbers("price\nof a step");
    }
    table.text("");
    for (Trial trial : sizing.trials()) {
      boolean found = Double.isFinite(trial.deviceSeconds());
      List<String> cells = new ArrayList<>();
      cells.add(Integer.toString(trial.devices()));
      cells.add(
          trial.stepSeconds().isPresent() ? Units.seconds(trial.stepSeconds().getAsDouble()) : "–");
      cells.add(found ? Units.significant(trial.deviceSeconds()) : "–");
      flags
          .price()
          .ifPresent(
              each -> cells.add(found ? Numbers.rate(trial.deviceSeconds() / HOUR * each) : "–"));
      boolean best =
          sizing.chosen().filter(chosen -> chosen.devices() == trial.devices()).isPresent();
      cells.add(best ? "cheapest" : trial.failure());
      table.row(cells.toArray());
    }
    return table.in(Terminal.columns(), Terminal.colours());
  }

  private String price(Answer found) {
    Map<String, Object> cost = cost(found);
    List<String> prices = new ArrayList<>();
    word(prices, cost, "million_samples_price", "a million samples for %s");
    word(prices, cost, "million_tokens_price", "a million tokens for %s");
    List<String> rates = new ArrayList<>();
    word(rates, cost, "samples_per_s_per_device", "%s samples");
    word(rates, cost, "tokens_per_s_per_device", "%s tokens");
    String rate = "\nEach device trains on %s per second".formatted(String.join(" or ", rates));
    return prices.isEmpty() ? rate + "." : rate + ": " + String.join(", ", prices) + ".";
  }

  private static void word(
      List<String> words, Map<String, Object> cost, String key, String sentence) {
    if (cost.get(key) instanceof Double value) {
      words.add(sentence.formatted(Numbers.rate(value)));
    }
  }
}
