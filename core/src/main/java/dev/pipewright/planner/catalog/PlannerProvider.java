package dev.pipewright.planner.catalog;

import java.util.List;

/**
 * Planners of another module, found through {@link java.util.ServiceLoader}: the catalogue lists
 * them after its own.
 */
public interface PlannerProvider {
  List<PlannerEntry> entries();
}
