package dev.pipewright.app.cli;

import dev.pipewright.formats.BadInputException;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.plan.CutRegion;
import dev.pipewright.plan.Parallelism;
import dev.pipewright.plan.Parallelism.Kind;
import dev.pipewright.plan.ParallelismLimits;
import dev.pipewright.plan.Reduction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads {@code --split}: how the layers of each stage are shared out between workers. */
final class ParallelismFlag {
  private static final int MOST_PARTS = 100_000;

  private final LayerGraph graph;

  ParallelismFlag(LayerGraph graph) {
    this.graph = graph;
  }

  /**
   * A split for each stage.
   *
   * @param text one for all stages, or one for each, with commas between them
   * @param how gradients are summed
   */
  List<Parallelism> read(String text, @Nullable String how, int stages) {
    Reduction reduction = reduction(how);
    List<Parallelism> splits =
        Arrays.stream(text.split(",", -1)).map(each -> one(each).with(reduction)).toList();
    if (splits.size() == 1) {
      return Collections.nCopies(stages, splits.get(0));
    }
    if (splits.size() != stages) {
      throw new BadInputException(
          "--split: %s names %d splits for %d stages; give one for all, or one for each"
              .formatted(text, splits.size(), stages));
    }
    return splits;
  }

  private static Reduction reduction(@Nullable String how) {
    if (how == null) {
      return Reduction.HIERARCHICAL;
    }
    return Arrays.stream(Reduction.values())
        .filter(r -> r.word().equals(how))
        .findFirst()
        .orElseThrow(() ->
            new BadInputException(
                "--reduce: %s is no way to sum gradients; give one of hierarchical, leaders, flat"
                    .formatted(how)));
  }

  private Parallelism one(String text) {
    if (text.equals(Kind.NONE.word())) {
      return Parallelism.NONE;
    }
    String[] words = text.split(":", -1);
    Optional<Kind> kind =
        Arrays.stream(Kind.values()).filter(k -> k.word().equals(words[0])).findFirst();
    List<Integer> grid = words.length == 2 ? grid(words[1]) : List.of();
    if (kind.isEmpty()
        || kind.get() == Kind.NONE
        || grid.isEmpty()
        || (grid.size() > 1 && kind.get() != Kind.SPATIAL)) {
      throw new BadInputException(
          "--split: %s is no split; give KIND:P with a kind of %s, like filter:2 or spatial:2x2"
              .formatted(text, kinds()));
    }
    Parallelism split =
        kind.get() == Kind.SPATIAL ? places(grid) : new Parallelism(kind.get(), grid);
    new ParallelismLimits(graph)
        .refusal(split)
        .ifPresent(why -> {
          throw new BadInputException("--split: " + why);
        });
    return split;
  }

  private static String kinds() {
    return Arrays.stream(Kind.values())
        .filter(kind -> kind != Kind.NONE)
        .map(Kind::word)
        .collect(Collectors.joining(", "));
  }

  /** Parts along each axis; none where that is no list of counts, or of more than anybody has. */
  private static List<Integer> grid(String text) {
    if (!text.matches("[1-9][0-9]{0,5}(x[1-9][0-9]{0,5})*")) {
      return List.of();
    }
    List<Integer> grid = Arrays.stream(text.split("x")).map(Integer::valueOf).toList();
    double parts = grid.stream().mapToDouble(Integer::doubleValue).reduce(1, (a, b) -> a * b);
    return parts > MOST_PARTS ? List.of() : grid;
  }

  /** One number is that of parts along the first axis. */
  private Parallelism places(List<Integer> grid) {
    int axes = 2;
    for (int layer = graph.size() - 1; layer >= 0; layer--) {
      axes = CutRegion.mapBefore(graph, layer).map(List::size).orElse(axes);
    }
    if (grid.size() == axes || grid.size() > 1) {
      return new Parallelism(Kind.SPATIAL, grid);
    }
    List<Integer> all = new ArrayList<>(Collections.nCopies(axes, 1));
    all.set(0, grid.get(0));
    return new Parallelism(Kind.SPATIAL, all);
  }
}
