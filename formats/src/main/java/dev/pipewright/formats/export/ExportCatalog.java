package dev.pipewright.formats.export;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Suggestion;
import java.util.List;
import java.util.function.Function;

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

  private static final List<Entry> ALL =
      List.of(
          target(
              "megatron",
              "arguments of Megatron-LM's pretrain_gpt.py, as arrays of a shell script",
              MegatronExport::new),
          target(
              "bridge",
              "a function that sets the plan in a Megatron-Bridge recipe",
              BridgeExport::new));

  private ExportCatalog() {}

  private static Entry target(
      String name, String words, java.util.function.Supplier<PlanExport> maker) {
    return new Entry(name, words, List.of(), options -> maker.get());
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
    refuse("--around", options.around().isPresent(), entry);
    refuse("--torchtitan-version", options.torchtitanVersion().isPresent(), entry);
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
