package dev.pipewright.plan;

/** A decision how devices share the training of a network. */
public sealed interface Plan permits PipelinePlan, AsynchronousPlan, PatternPlan, OperatorPlan {
  /** Which layers, or operators, are on which devices, in a line. */
  String summary();
}
