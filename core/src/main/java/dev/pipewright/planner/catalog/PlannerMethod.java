package dev.pipewright.planner.catalog;

/** What a planner is given and what it answers. */
public sealed interface PlannerMethod permits StepPlanner, SteadyPlanner, OperatorPlanner {}
