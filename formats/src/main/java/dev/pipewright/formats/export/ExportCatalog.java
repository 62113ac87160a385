package dev.pipewright.formats.export;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Suggestion;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** All targets of exports by name. */
public final class ExportCatalog {
  /**
   * A target.
   *
   * @param words what is written, for help texts
   * @param options that it supports
   * @param maker of its export
   */
  public record Entry(
      String name, String words, List<String> options, Function<ExportOptions, PlanExport> maker) {
    public Entry {
      options = List.copyOf(options);
    }
  }

  private static final String VERSION = "--torchtitan-version";
  private static final String AROUND = "--around";

  /** Versions of torchtitan that read TOML. */
  private static final Pattern TOML = Pattern.compile("v?0[.][0-2]([.].*)?");

  private static final List<Entry> FRAMEWORKS =
      List.of(
          target(
              "megatron",
              "arguments of Megatron-LM's pretrain_gpt.py, as arrays of a shell script",
              MegatronExport::new),
          target(
              "bridge",
              "a function that sets the plan in a Megatron-Bridge recipe",
              BridgeExport::new),
          new Entry(
              "torchtitan",
              "a recipe of torchtitan; its TOML with --torchtitan-version 0.2",
              List.of(VERSION),
              ExportCatalog::torchtitan),
          target(
              "torch",
              "a script of torch.distributed.pipelining and its schedule; any network",
              TorchExport::new),
          target(
              "deepspeed",
              "DeepSpeed's configuration and a script with the plan's stages",
              DeepSpeedExport::new),
          target("galvatron", "the JSON that Galvatron's runtime takes", GalvatronExport::new));

  private static final List<Entry> LAUNCHERS =
      List.of(
          launcher("sbatch", "a job of Slurm; any network", Launchers.SBATCH),
          launcher("trainjob", "a TrainJob of Kubeflow Trainer", Launchers.TRAINJOB),
          launcher("jobset", "a JobSet of Kubernetes", Launchers.JOBSET));

  private static final List<Entry> ALL =
      Stream.concat(FRAMEWORKS.stream(), LAUNCHERS.stream()).toList();

  private ExportCatalog() {}

  private static Entry target(String name, String words, Supplier<PlanExport> maker) {
    return new Entry(name, words, List.of(), options -> maker.get());
  }

  private static Entry launcher(String name, String words, LaunchExport.Launcher launcher) {
    return new Entry(name, words, List.of(AROUND), options -> LaunchExport.of(launcher, options));
  }

  private static PlanExport torchtitan(ExportOptions options) {
    return options.torchtitanVersion().filter(v -> TOML.matcher(v).matches()).isPresent()
        ? new TorchtitanTomlExport()
        : new TorchtitanExport();
  }

  /** The framework of a name that a launcher starts; throws where there is none. */
  static PlanExport framework(String option, String name) {
    return FRAMEWORKS.stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new BadInputException(
                "%s: unknown '%s'; %s"
                    .formatted(
                        option,
                        name,
                        Suggestion.of(name, FRAMEWORKS.stream().map(Entry::name).toList()))))
        .maker()
        .apply(ExportOptions.NONE);
  }

  /** In the order of help texts. */
  public static List<Entry> all() {
    return ALL;
  }

  /** The names in the same order. */
  public static List<String> names() {
    return ALL.stream().map(Entry::name).toList();
  }

  /** The target of a name; throws {@link BadInputException} where there is none. */
  public static PlanExport named(String option, String name, ExportOptions options) {
    Entry entry =
        ALL.stream()
            .filter(each -> each.name().equals(name))
            .findFirst()
            .orElseThrow(() ->
                new BadInputException(
                    "%s: unknown '%s'; %s".formatted(option, name, Suggestion.of(name, names()))));
    refuse(AROUND, options.around().isPresent(), entry);
    refuse(VERSION, options.torchtitanVersion().isPresent(), entry);
    return entry.maker().apply(options);
  }

  private static void refuse(String option, boolean given, Entry entry) {
    if (given && !entry.options().contains(option)) {
      throw new BadInputException(
          "%s: says nothing of %s; leave it out, or take %s"
              .formatted(
                  option,
                  entry.name(),
                  String.join(
                      " or ",
                      ALL.stream()
                          .filter(each -> each.options().contains(option))
                          .map(Entry::name)
                          .toList())));
    }
  }
}
