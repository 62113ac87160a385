package dev.pipewright.formats.imported;

import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.PlanFiles;
import dev.pipewright.formats.PlanJson;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Beginning;
import dev.pipewright.formats.transformer.MegatronFile;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.parallel.BlockShape;
import dev.pipewright.plan.PipelinePlan;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Reads plans in any format that is known here, recognised by content. */
public final class PlanImports {
  private static final List<PlanImport> KNOWN =
      List.of(
          new MegatronImport(),
          new TorchtitanImport(),
          new GalvatronImport(),
          new DeepSpeedImport());

  private PlanImports() {}

  /** Whether a file is of another program's format; other files are this project's own. */
  public static boolean isImport(Path file) {
    return format(file).isPresent();
  }

  private static Optional<PlanImport> format(Path file) {
    String start = Beginning.of(file);
    return KNOWN.stream().filter(each -> each.begins(start)).findFirst();
  }

  /**
   * Reads a plan of any kind.
   *
   * @param devices of the run, where they are known; formats of other programs do not say them
   * @throws BadInputException where the file is none, or says what plans do not have
   */
  public static PlanFile<?> read(Path file, OptionalInt devices) {
    Optional<PlanImport> format = format(file);
    return format.isPresent() ? format.get().read(file, devices) : PlanFiles.read(file);
  }

  /** The same of a plan of synchronous training. */
  public static PlanFile<PipelinePlan> readStep(Path file, OptionalInt devices) {
    Optional<PlanImport> format = format(file);
    return format.isPresent() ? format.get().read(file, devices) : PlanJson.read(file);
  }

  /** Whether a text is arguments of Megatron-LM rather than the name of a file. */
  public static boolean isArguments(String text) {
    return text.strip().startsWith("--");
  }

  /** Throws where such arguments are misspelled. */
  public static void checkArguments(String place, String text) {
    MegatronFile.arguments(Path.of(place), text);
  }

  /**
   * The plan in arguments of Megatron-LM, which need not state the network and the batch.
   *
   * @param place what sentences about mistakes call them
   * @param network whose blocks the arguments divide
   * @param globalBatch samples of a step
   * @param devices of the run
   * @throws BadInputException where they contradict each other, or say what plans do not have
   */
  public static PipelinePlan ofArguments(
      String place, String text, LayerGraph network, int globalBatch, int devices) {
    int blocks =
        (int) network.layers().stream().filter(layer -> BlockShape.of(layer).isPresent()).count();
    if (blocks == 0 || blocks + 2 != network.size()) {
      throw new BadInputException(
          "%s: arguments of Megatron-LM are for decoders, and %s is none; give a plan's file"
              .formatted(place, network.name()));
    }
    return MegatronImport.plan(Path.of(place), text, blocks, globalBatch, devices);
  }
}
