package dev.pipewright.cost;

import dev.pipewright.plan.PipelinePlan;
import java.util.Optional;

/** The cost models that a user can choose by name. */
public enum CostModel {
  /** The longest simple path through the step: {@link PathFormula}. The default. */
  PIPEWRIGHT("pipewright"),
  /** DAPPLE's latency, corrected: {@link PivotFormula#CORRECTED}. */
  DAPPLE("dapple"),
  /** DAPPLE's latency as published: {@link PivotFormula#PUBLISHED}. */
  DAPPLE_PUBLISHED("dapple-published"),
  /** The scores of the DAPPLE authors' program: {@link DappleRepoOracle}. */
  DAPPLE_REPO("dapple-repo");

  private final String word;

  CostModel(String word) {
    this.word = word;
  }

  /** The name on the command line and in plan files. */
  public String word() {
    return word;
  }

  public static Optional<CostModel> find(String word) {
    for (CostModel model : values()) {
      if (model.word.equals(word)) {
        return Optional.of(model);
      }
    }
    return Optional.empty();
  }

  /** The oracle that prices plans by this model. */
  public Oracle oracle(StageCosts costs) {
    return this == DAPPLE_REPO ? new DappleRepoOracle(costs) : new PipelineOracle(costs, formula());
  }

  /**
   * The oracle that prices plans for a step of {@code globalBatch} samples: the samples of their
   * micro-batches, but where {@link #DAPPLE_REPO} truncates.
   */
  public Oracle oracle(StageCosts costs, long globalBatch) {
    return this == DAPPLE_REPO ? new DappleRepoOracle(costs, globalBatch) : oracle(costs);
  }

  /** Whether a plan is for a step of so many samples. */
  public boolean isFor(long globalBatch, PipelinePlan plan) {
    return this == DAPPLE_REPO
        ? DappleRepoOracle.cuts(globalBatch, plan)
        : plan.globalBatch() == globalBatch;
  }

  /** How stage times combine; throws for the model that is not a formula over stages. */
  public PipelineFormula formula() {
    return switch (this) {
      case PIPEWRIGHT -> new PathFormula();
      case DAPPLE -> PivotFormula.CORRECTED;
      case DAPPLE_PUBLISHED -> PivotFormula.PUBLISHED;
      case DAPPLE_REPO ->
          throw new IllegalArgumentException("dapple-repo has no formula over stages");
    };
  }
}
