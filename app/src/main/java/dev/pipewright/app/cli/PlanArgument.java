package dev.pipewright.app.cli;

import dev.pipewright.cost.CostModel;
import dev.pipewright.formats.BadInputException;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.PlanJson;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A plan file and what it was made for, as far as the user does not say it anew. */
final class PlanArgument {
  @Parameters(paramLabel = "PLAN.json", description = "A plan, as `plan --out` or `--json` writes.")
  Path path = Path.of("");

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

  /** The plan with its stages' prices. */
  record Loaded(PlanFile file, ModelArgument.Costed costed, CostModel costModel) {}

  Loaded load() {
    PlanFile file = PlanJson.read(path);
    String network =
        java.util.Optional.ofNullable(model)
            .or(file::model)
            .orElseThrow(
                () -> new BadInputException(path + ": does not say its model; add --model"));
    String word = costModel == null ? file.costModel().orElse("pipewright") : costModel;
    CostModel prices =
        CostModel.find(word)
            .orElseThrow(() ->
                new BadInputException(
                    (costModel == null ? path.toString() : "--cost-model")
                        + ": unknown cost model '"
                        + word
                        + "'; "
                        + Suggestion.of(word, SynchronousFlags.COST_MODELS)));
    Limits.passes(path.toString(), file.plan());
    arguments.fallBackTo(file);
    int batch = (int) file.plan().globalBatch();
    if (file.globalBatch().isPresent() && file.globalBatch().getAsLong() != batch) {
      throw new BadInputException(
          "%s: its micro-batches hold %d samples, but global_batch says %d; make them agree"
              .formatted(path, batch, file.globalBatch().getAsLong()));
    }
    return new Loaded(
        file, arguments.costed(network, file.cluster(), file.profileBatch(), batch), prices);
  }
}
