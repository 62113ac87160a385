package dev.pipewright.app.cli.given;

import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.imported.PlanImports;
import dev.pipewright.formats.memory.McapTable;
import dev.pipewright.formats.problem.ClusterNames;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.NetworkNames;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.formats.schedule.CheckedFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A plan file and what it was made for, as far as the user does not say it anew. */
public final class PlanArgument {
  /** Options that say nothing of a schedule. */
  static final List<String> FOR_PLANS =
      List.of(
          "--model",
          "--cost-model",
          "--cluster",
          "--profile-batch",
          "--model-format",
          "--sequence",
          "--memory",
          "--memory-reserve",
          "--optimizer",
          "--precision",
          "--gradients");

  private static final String LABEL = "PLAN.json";
  private static final Path NONE = Path.of("");

  @Parameters(
      arity = "0..1",
      paramLabel = LABEL,
      description =
          "A plan, as `plan --out` or `--json` writes, or in another program's format: Megatron-LM's"
              + " arguments, torchtitan's TOML, JSON of Galvatron or DeepSpeed.")
  Path path = NONE;

  @Option(
      names = "--model",
      paramLabel = "MODEL",
      description = "A file or a name, where the plan does not say.")
  @Nullable String model;

  @Option(
      names = "--cost-model",
      paramLabel = "NAME",
      description = "What prices the stages; the plan's own otherwise.")
  @Nullable String costModel;

  @Mixin ModelArgument arguments = new ModelArgument();

  /** The file. */
  public Path file() {
    return path;
  }

  /** The format of the model's file, where the user says it. */
  public Optional<String> modelFormat() {
    return Optional.ofNullable(arguments.modelFormat);
  }

  /** What the file holds: a schedule, or a plan in whatever format. */
  CheckedFile.Kind kind() {
    boolean csv = path.toString().endsWith(".csv");
    return !csv && PlanImports.isImport(path) ? CheckedFile.Kind.PLAN : CheckedFile.kind(path);
  }

  boolean isGiven() {
    return !path.equals(NONE);
  }

  /** Throws where the command line names no file. */
  public void require(CommandSpec spec) {
    if (!isGiven()) {
      throw new BadInputException(
          "%s is missing; write `%s %s`".formatted(LABEL, spec.qualifiedName(), LABEL));
    }
  }

  /** Refuses options that say nothing of this kind of file. */
  void refuse(List<String> options, CommandSpec spec, String what, String otherwise) {
    for (String option : options) {
      if (spec.commandLine().getParseResult().hasMatchedOption(option)) {
        throw new BadInputException(
            "%s: is for %s, and %s is %s".formatted(option, what, path, otherwise));
      }
    }
  }

  /** Devices of the cluster, where the user gives one. */
  OptionalInt devices() {
    return arguments.cluster == null
        ? OptionalInt.empty()
        : OptionalInt.of(arguments.cluster(Optional.empty()).size());
  }

  boolean isMeasured(MadeFor madeFor) {
    String name = model == null ? madeFor.model().orElse("") : model;
    return !name.isEmpty() && McapTable.isTable(FileNames.file("the model", name));
  }

  /** The model's name, the user's first; the file's is one that there is. */
  String model(MadeFor madeFor) {
    if (model != null) {
      return model;
    }
    String named =
        madeFor
            .model()
            .orElseThrow(
                () -> new BadInputException(path + ": does not say its model; add --model"));
    if (NetworkNames.zooModel(named).isEmpty()
        && !Files.exists(FileNames.file(path + ": its model", named))) {
      throw new BadInputException(
          "%s: its model '%s' is no file and no name of the zoo; give it with --model"
              .formatted(path, named));
    }
    return named;
  }

  /** The cluster's name in the file, where the user gives none; one that there is. */
  Optional<String> cluster(MadeFor madeFor) {
    if (arguments.cluster != null) {
      return Optional.empty();
    }
    String named =
        madeFor
            .cluster()
            .orElseThrow(
                () -> new BadInputException(path + ": does not say its cluster; add --cluster"));
    if (!ClusterNames.exists(named)) {
      throw new BadInputException(
          "%s: its cluster '%s' is no file and no name of the zoo; give it with --cluster"
              .formatted(path, named));
    }
    return Optional.of(named);
  }

  /** Refuses a cost model for plans of which each kind has but one. */
  void refuseCostModel(String otherwise) {
    if (costModel != null) {
      throw new BadInputException(
          "--cost-model: is for training steps, and %s %s; leave it out"
              .formatted(path, otherwise));
    }
  }

  /** What the plan's samples cost; takes from the file what the user does not say anew. */
  Costed costed(MadeFor madeFor, long batch) {
    agree(madeFor, batch);
    takeFrom(madeFor);
    return arguments.costed(model(madeFor), cluster(madeFor), madeFor.profileBatch(), (int) batch);
  }

  /** Takes from the file what the user does not say anew. */
  void takeFrom(MadeFor madeFor) {
    arguments.fallBackTo(madeFor.training(), madeFor.memory());
    if (madeFor.sequence().isPresent()) {
      arguments.fallBackTo(model(madeFor), madeFor.sequence().getAsInt());
    }
  }

  /** Refuses samples that are not those of the file, or too many. */
  void agree(MadeFor madeFor, long batch) {
    SizeLimits.samples(path.toString(), batch);
    if (madeFor.globalBatch().isPresent() && madeFor.globalBatch().getAsLong() != batch) {
      throw new BadInputException(
          "%s: its micro-batches hold %d samples, but global_batch says %d; make them agree"
              .formatted(path, batch, madeFor.globalBatch().getAsLong()));
    }
  }

  /** Whether the plan is looked at for something else than its file says: figures differ then. */
  boolean elsewhere() {
    return model != null
        || arguments.cluster != null
        || arguments.profileBatch != null
        || arguments.sequence != null
        || arguments.optimizer != null
        || arguments.precision != null;
  }
}
