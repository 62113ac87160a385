package dev.pipewright.app.cli.input;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.parallel.CutRegion;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.parallel.Reduction;
import dev.pipewright.plan.ParallelismLimits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The options that say how the workers of a stage compute its layers together: one value for all
 * stages, or one for each, separated by commas.
 */
public enum ParallelismFlag {
  /** {@code 2}: the usual kind of the network; {@code sequence:2}: this one. */
  TENSOR(
      "--tensor-parallel",
      "is no tensor parallelism; give a degree, or KIND:P with a kind of tensor, sequence,"
          + " context, expert, filter, channel, like 2 or sequence:2"),
  /** {@code 2}: along the first axis of maps; {@code 2x2}: parts along each. */
  SPATIAL(
      "--spatial-parallel", "is no number of parts; give one, or one for each axis, like 2 or 2x2"),
  /** The former option for both: {@code filter:2} or {@code spatial:2x2}. */
  SPLIT(
      "--split",
      "is no split; give --tensor-parallel KIND:P or --spatial-parallel P, which replace it");

  private static final int MOST_PARTS = 100_000;

  private final String option;
  private final String refusal;

  ParallelismFlag(String option, String refusal) {
    this.option = option;
    this.refusal = refusal;
  }

  public String option() {
    return option;
  }

  /**
   * The parallelism of each stage.
   *
   * @param text the option's value
   * @param how gradients are summed
   */
  public List<Parallelism> read(LayerGraph graph, String text, @Nullable String how, int stages) {
    Reduction reduction = reduction(how);
    List<Parallelism> each =
        Arrays.stream(text.split(",", -1)).map(one -> one(graph, one).with(reduction)).toList();
    if (each.size() == 1) {
      return Collections.nCopies(stages, each.get(0));
    }
    if (each.size() != stages) {
      throw new BadInputException(
          "%s: %s has %d values for %d stages; give one for all, or one for each"
              .formatted(option, text, each.size(), stages));
    }
    return each;
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

  private Parallelism one(LayerGraph graph, String text) {
    if (text.equals(Kind.NONE.word()) || (text.equals("1") && this != SPLIT)) {
      return Parallelism.NONE;
    }
    ParallelismLimits limits = new ParallelismLimits(graph);
    Parallelism read =
        parse(graph, limits, text)
            .orElseThrow(
                () -> new BadInputException("%s: '%s' %s".formatted(option, text, refusal)));
    limits
        .refusal(read)
        .ifPresent(why -> {
          throw new BadInputException(option + ": " + why);
        });
    return read;
  }

  private Optional<Parallelism> parse(LayerGraph graph, ParallelismLimits limits, String text) {
    String[] words = text.split(":", -1);
    List<Integer> grid = grid(words[words.length - 1]);
    if (grid.isEmpty() || words.length > 2) {
      return Optional.empty();
    }
    if (words.length == 1) {
      return switch (this) {
        case TENSOR ->
            grid.size() == 1 ? Optional.of(limits.tensorParallel(grid.get(0))) : Optional.empty();
        case SPATIAL -> Optional.of(spatial(graph, grid));
        case SPLIT -> Optional.empty();
      };
    }
    boolean spatial = words[0].equals(Kind.SPATIAL.word());
    if (this == SPATIAL || (spatial && this != SPLIT)) {
      return Optional.empty();
    }
    return spatial
        ? Optional.of(spatial(graph, grid))
        : Parallelism.parse(text).filter(read -> read.kind() != Kind.NONE);
  }

  /** Parts along each axis; none where the text is no list of counts, or of too many. */
  private static List<Integer> grid(String text) {
    if (!text.matches("[1-9][0-9]{0,5}(x[1-9][0-9]{0,5})*")) {
      return List.of();
    }
    List<Integer> grid = Arrays.stream(text.split("x")).map(Integer::valueOf).toList();
    double parts = grid.stream().mapToDouble(Integer::doubleValue).reduce(1, (a, b) -> a * b);
    return parts > MOST_PARTS ? List.of() : grid;
  }

  /** One number is that of parts along the first axis. */
  private static Parallelism spatial(LayerGraph graph, List<Integer> grid) {
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

  /** The names of all, for messages. */
  public static String names() {
    return Arrays.stream(values())
        .filter(flag -> flag != SPLIT)
        .map(ParallelismFlag::option)
        .collect(Collectors.joining(" or "));
  }
}
