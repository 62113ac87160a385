package dev.pipewright.predict.transformer.search;

import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.MicroBatchTerms;
import dev.pipewright.predict.transformer.StepTerms;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TransformerRun;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The terms of all layouts of a search with the same degrees of tensor, context and expert
 * parallelism, each computed once: powers, logarithms and records are here, none in the search.
 */
final class SearchTables {
  private final SearchSpace space;
  private final SearchValues values;
  private final CalibratedConstants constants;
  private final UnaryOperator<TransformerRun> software;
  private final int tensor;
  private final int context;
  private final int expert;
  private final int tensorPosition;
  private final int contextPosition;
  private final int expertPosition;
  private final Map<MicroBatch, MicroBatchTerms> known = new HashMap<>();
  private @Nullable StepTerms terms; // of the first run

  private record MicroBatch(int expertTensor, int sequence, int recompute, int size) {}

  private SearchTables(
      SearchSpace space,
      CalibratedConstants constants,
      UnaryOperator<TransformerRun> software,
      int tensor,
      int context,
      int expert) {
    this.space = space;
    this.values = space.values();
    this.constants = constants;
    this.software = software;
    this.tensor = values.tensor().get(tensor);
    this.context = values.context().get(context);
    this.expert = values.expert().get(expert);
    this.tensorPosition = tensor;
    this.contextPosition = context;
    this.expertPosition = expert;
  }

  /** All meshes of a space, in the order of their numbers. */
  static List<SearchMesh> of(SearchSpace space, CalibratedConstants constants) {
    return of(space, constants, UnaryOperator.identity());
  }

  /** The same on other software, as {@link LayoutSearch} takes it. */
  static List<SearchMesh> of(
      SearchSpace space, CalibratedConstants constants, UnaryOperator<TransformerRun> software) {
    SearchValues values = space.values();
    int contexts = values.context().size();
    int experts = values.expert().size();
    return IntStream.range(0, values.tensor().size() * contexts * experts)
        .parallel()
        .mapToObj(i ->
            new SearchTables(
                space,
                constants,
                software,
                i / experts / contexts,
                i / experts % contexts,
                i % experts))
        .flatMap(tables -> tables.meshes().stream())
        .toList();
  }

  private List<SearchMesh> meshes() {
    List<SearchMesh> meshes = new ArrayList<>();
    if (!space.dividesHeads(tensor) || !space.dividesExperts(expert)) {
      return meshes;
    }
    for (int p = 0; p < values.pipeline().size(); p++) {
      int data = space.data(tensor, context, values.pipeline().get(p));
      if (data > 0 && tensor * context * data % expert == 0) {
        for (int v = 0; v < values.interleave().size(); v++) {
          add(meshes, data, p, v);
        }
      }
    }
    return meshes;
  }

  private void add(List<SearchMesh> meshes, int data, int pipelinePosition, int chunkPosition) {
    int pipeline = values.pipeline().get(pipelinePosition);
    int interleave = values.interleave().get(chunkPosition);
    int[] counts = // of micro-batches, by size
        values.microBatch().stream()
            .mapToInt(size -> space.microBatches(data, size, pipeline, interleave))
            .toArray();
    int[] sizes = IntStream.range(0, counts.length).filter(i -> counts[i] > 0).toArray();
    if (sizes.length == 0
        || space.offloads(pipeline) == 0
        || space.zeros(pipeline) == 0
        || !space.dividesLayers(pipeline, interleave)) {
      return;
    }
    long number =
        space.number(
            tensorPosition, contextPosition, expertPosition, pipelinePosition, chunkPosition);
    long first = number + (long) sizes[0] * space.numbersOfMicroBatch();
    TransformerRun run = software.apply(space.choices(space.layout(first)).run());
    StepTerms shared = terms == null ? StepTerms.of(run, constants) : terms;
    terms = shared;
    meshes.add(
        new SearchMesh(
            space,
            shared.mesh(run),
            microBatches(shared, run, sizes),
            sizes,
            IntStream.of(sizes).map(i -> counts[i]).toArray(),
            run.layout(),
            number));
  }

  private MicroBatchTerms[] microBatches(StepTerms shared, TransformerRun run, int[] sizes) {
    List<MicroBatchTerms> found = new ArrayList<>();
    int expertTensor = run.layout().expertTensor();
    for (int s = 0; s < space.sequenceChoices(tensor); s++) {
      for (int r = 0; r < values.recompute().size(); r++) {
        for (int size : sizes) {
          found.add(
              known.computeIfAbsent(
                  new MicroBatch(expertTensor, s, r, size), key -> terms(shared, run, key)));
        }
      }
    }
    return found.toArray(MicroBatchTerms[]::new);
  }

  /** Of one micro-batch on a single pipeline rank, as terms of micro-batches know no other. */
  private MicroBatchTerms terms(StepTerms shared, TransformerRun run, MicroBatch key) {
    int size = values.microBatch().get(key.size);
    TrainingLayout layout =
        new TrainingLayout(
            tensor,
            1,
            1,
            context,
            1,
            expert,
            key.expertTensor,
            0,
            context,
            false,
            values.sequenceParallel().get(key.sequence),
            size,
            size);
    return shared.microBatch(
        run.with(layout, run.split().joined(), values.recompute().get(key.recompute)));
  }
}
