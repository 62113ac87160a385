package dev.pipewright.formats;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.schedule.ScheduleCsv;
import dev.pipewright.formats.schedule.ScheduleFile;
import dev.pipewright.schedule.FixedOrder;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ScheduleSpec;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.catalog.ScheduleInput;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The schedule of a plan: {@code schedule}, its name in the catalogue, and {@code order} where the
 * name does not say the order of work: a line of PyTorch's schedule files for each rank.
 */
final class PlanScheduleJson {
  static final List<String> KEYS = List.of("schedule", "order");

  private static final Map<String, PipelinePolicy> POLICIES = new LinkedHashMap<>();

  static {
    Stream.of(PipelinePolicy.values())
        .forEach(policy -> POLICIES.put(policy.scheduleName(), policy));
  }

  private PlanScheduleJson() {}

  /** The names that need no order. */
  static List<String> names() {
    return Stream.concat(
            POLICIES.keySet().stream(),
            ScheduleCatalog.entries().stream()
                .filter(entry -> entry.isSynchronousPipeline() && !entry.needsDurations())
                .map(ScheduleEntry::name))
        .distinct()
        .toList();
  }

  /**
   * The schedule of a plan's stages.
   *
   * @param stages of the plan; those of one rank name the same devices
   */
  static ScheduleSpec read(Fields plan, int microBatches, List<Node> stages) {
    Node name = plan.required("schedule");
    Optional<Node> order = plan.optional("order");
    if (order.isPresent()) {
      return given(order.get(), name.text());
    }
    PipelinePolicy policy = POLICIES.get(name.text());
    if (policy != null) {
      return policy;
    }
    Map<String, ScheduleEntry> known = new LinkedHashMap<>();
    names().forEach(word -> known.put(word, ScheduleCatalog.find(word).orElseThrow()));
    Optional<ScheduleEntry> timed =
        ScheduleCatalog.find(name.text())
            .filter(entry -> entry.isSynchronousPipeline() && entry.needsDurations());
    if (timed.isPresent()) {
      throw name.wrong(
          "the order of %s depends on times, and the plan has none; add order, as `pipewright plan` writes it"
              .formatted(name.text()));
    }
    return made(name, name.word(known), microBatches, stages);
  }

  private static ScheduleSpec made(
      Node name, ScheduleEntry entry, int microBatches, List<Node> stages) {
    int ranks = (int) stages.stream().map(PlanScheduleJson::devices).distinct().count();
    int chunks = stages.size() / Math.max(1, ranks);
    return name.checked(() ->
        FixedOrder.of(
            entry
                .make(ScheduleInput.counts(Math.max(1, ranks), microBatches, chunks))
                .named(entry.name())));
  }

  private static List<Integer> devices(Node stage) {
    Node devices = stage.members().get("devices");
    return devices == null
        ? List.of()
        : devices.list().stream().map(device -> device.count(0)).toList();
  }

  private static ScheduleSpec given(Node order, String name) {
    List<String> lines = order.list().stream().map(Node::text).toList();
    ScheduleFile read;
    try {
      read = ScheduleCsv.of(Path.of("order"), lines);
    } catch (BadInputException e) {
      throw order.wrong(String.valueOf(e.getMessage()));
    }
    if (!read.problems().isEmpty()) {
      throw order.unsound(read.problems().get(0).toString());
    }
    return order.checked(() -> FixedOrder.of(read.schedule().named(name)));
  }

  /** Puts what {@link #read} reads. */
  static void put(Map<String, Object> plan, ScheduleSpec spec) {
    plan.put("schedule", spec.scheduleName());
    if (spec instanceof FixedOrder fixed && !named(fixed)) {
      plan.put("order", ScheduleCsv.text(fixed.order()).lines().toList());
    }
  }

  /** Whether the catalogue makes the same order from the name. */
  private static boolean named(FixedOrder fixed) {
    Schedule order = fixed.order();
    int chunks = order.placement().depth() / order.ranks();
    return ScheduleCatalog.find(order.name())
        .filter(entry -> entry.isSynchronousPipeline() && !entry.needsDurations())
        .map(entry -> entry.make(ScheduleInput.counts(order.ranks(), fixed.microBatches(), chunks)))
        .map(made -> FixedOrder.of(made.named(order.name())).equals(fixed))
        .orElse(false);
  }
}
