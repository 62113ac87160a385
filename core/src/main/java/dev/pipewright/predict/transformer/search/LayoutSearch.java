package dev.pipewright.predict.transformer.search;

import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.TransformerRun;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Searches the layouts of a space by the seconds and bytes of {@link
 * dev.pipewright.predict.transformer.TransformerOracle}. Answers do not depend on the number of
 * threads.
 */
public final class LayoutSearch {
  private final SearchSpace space;
  private final List<SearchMesh> meshes;

  private LayoutSearch(SearchSpace space, List<SearchMesh> meshes) {
    this.space = space;
    this.meshes = meshes;
  }

  /**
   * A search whose tables are filled.
   *
   * @throws IllegalArgumentException for networks that the formulas do not cover, and for constants
   *     that make an amount negative
   */
  public static LayoutSearch of(SearchSpace space, CalibratedConstants constants) {
    return of(space, constants, UnaryOperator.identity());
  }

  /**
   * The same for software whose properties the space does not state.
   *
   * @param software a run of the space on that software: with another release, routing, formats or
   *     details of memory, the same for every layout, and all else unchanged
   */
  public static LayoutSearch of(
      SearchSpace space, CalibratedConstants constants, UnaryOperator<TransformerRun> software) {
    return new LayoutSearch(space, SearchTables.of(space, constants, software));
  }

  /** The best ten, the front and the heat map, by evaluating every layout. */
  public LayoutSurvey survey() {
    return meshes.parallelStream()
        .collect(() -> new LayoutScan(space), LayoutScan::add, LayoutScan::add)
        .survey();
  }

  /** The best ten alone, without evaluating layouts that cannot be among them. */
  public LayoutSurvey best() {
    return meshes.parallelStream()
        .collect(() -> new PrunedScan(space), PrunedScan::add, PrunedScan::add)
        .survey();
  }
}
