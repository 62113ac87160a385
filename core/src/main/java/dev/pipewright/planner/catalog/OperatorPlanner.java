package dev.pipewright.planner.catalog;

import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.PlacementRequest;
import dev.pipewright.planner.placement.PlacementResult;
import java.util.function.BiFunction;

/** Gives the operators of a graph to devices. */
public record OperatorPlanner(BiFunction<OperatorGraph, PlacementRequest, PlacementResult> search)
    implements PlannerMethod {}
