package dev.pipewright.app.cli;

import dev.pipewright.app.cli.plan.PlannerFlags;
import dev.pipewright.app.cli.terminal.MoreHelp;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** Lists the options of a command by topic, the common ones first. */
final class HelpTopics {
  /** The topics in order, with their options in order; an option that is in none comes last. */
  static final Map<String, List<String>> TOPICS = new LinkedHashMap<>();

  private static final String OTHERS = "Other options";

  /** Commands whose options mean something else than those of the same name elsewhere. */
  private static final Set<String> PLAIN = Set.of("serve");

  static {
    topic("Model and machine", "cluster gpus for model data profile optimizer precision");
    topic("Model and machine", "model-format input profile-batch sequence attention framework");
    topic("Model and machine", "layers mtp-layers gradients");
    topic(
        "Batch", "global-batch batch-per-device micro-batch micro-batches batches samples tokens");
    topic("Batch", "segments device-hour");
    topic(
        "Parallelism", "strategies devices stages replicas tensor-parallel spatial-parallel zero");
    topic(
        "Parallelism", "pipeline-parallel data-parallel group reduce all-reduce chunks interleave");
    topic("Parallelism", "context-parallel expert-parallel expert-tensor");
    topic("Parallelism", "sequence-parallel pipeline-layout pipeline megatron-layout");
    topic("Parallelism", "batch-norm split-layers levels bandwidths");
    topic("Schedule", "schedule recompute beside times step-times memory-cap overlap sends");
    topic("Schedule", "recompute-ahead vertical-sync transfers per-machine look-ahead");
    topic("Search", "search planner objective time-limit evaluate cost-model formulas");
    topic("Search", "smallest-cluster target-time front against what-if table constants");
    TOPICS.put("Single planners", new ArrayList<>(PlannerFlags.names()));
    topic("Sweep", "sweep shard merge jobs array");
    topic("Memory", "memory memory-reserve memory-reuse offload-layers offload-optimizer baseline");
    topic("Variation", "jitter stragglers slow slowdown runs seed");
    topic("Training", "steps learning-rate momentum weight-decay evaluate-every");
    topic("Workers", "workers threads device remote-workers port slots logs stall-timeout emulate");
    topic("Workers", "stretch force max-restarts replan");
    topic("Launcher", "launcher rank world-size coordinator token-file join-timeout");
    topic("Launcher", "workers-per-rank grace nodes requeue-plan min-nodes kind time name image");
    topic("Launcher", "submit tls-cert tls-key tls-ca");
    topic("Checkpoints", "checkpoint-every keep resume reshard");
    topic("Measurement", "repeats links largest-message memory-metrics processor-time tolerance");
    topic("Measurement", "collective level machine whole");
    topic("Export", "to export nearest around torchtitan-version");
    topic("Output", "out json svg html trace csv csv-transfers");
    topic(OTHERS, "help version debug");
  }

  private HelpTopics() {}

  private static void topic(String heading, String options) {
    List<String> names = TOPICS.computeIfAbsent(heading, key -> new ArrayList<>());
    for (String option : options.split(" ", -1)) {
      names.add("--" + option);
    }
  }

  /** Makes the help of a command and of its subcommands list options by topic. */
  static void register(CommandLine line) {
    line.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, HelpTopics::render);
    if (line.getCommand() instanceof MoreHelp more) {
      UsageMessageSpec usage = line.getCommandSpec().usageMessage();
      List<String> footer = new ArrayList<>(more.moreHelp());
      footer.addAll(List.of(usage.footer()));
      usage.footer(footer.toArray(String[]::new));
    }
    line.getSubcommands().values().forEach(HelpTopics::register);
  }

  /** The visible options of a command by topic; topics without any are left out. */
  static Map<String, List<OptionSpec>> of(CommandSpec command) {
    Map<String, List<OptionSpec>> byTopic = new LinkedHashMap<>();
    TOPICS.keySet().forEach(heading -> byTopic.put(heading, new ArrayList<>()));
    Map<String, OptionSpec> left = new LinkedHashMap<>();
    for (OptionSpec option : command.options()) {
      if (!option.hidden()) {
        left.put(option.longestName(), option);
      }
    }
    Map<String, List<String>> topics = PLAIN.contains(command.name()) ? Map.of() : TOPICS;
    topics.forEach((heading, names) -> {
      for (String name : names) {
        OptionSpec option = left.remove(name);
        if (option != null) {
          byTopic.getOrDefault(heading, List.of()).add(option);
        }
      }
    });
    byTopic.getOrDefault(OTHERS, List.of()).addAll(0, left.values());
    byTopic.values().removeIf(List::isEmpty);
    return byTopic;
  }

  /** The heading of each topic and its options, in columns that are the same for all. */
  private static String render(Help help) {
    StringBuilder text = new StringBuilder();
    of(help.commandSpec())
        .forEach((heading, options) ->
            text.append(String.format("%n%s:%n", heading)).append(list(help, options)));
    return text.toString();
  }

  private static String list(Help help, Collection<OptionSpec> options) {
    Help.Layout layout =
        help.createDefaultLayout(
            help.commandSpec().options(),
            help.commandSpec().positionalParameters(),
            help.colorScheme());
    layout.addOptions(List.copyOf(options), help.parameterLabelRenderer());
    return layout.toString();
  }
}
