/**
 * The catalogue of planners for synchronous training: a name, what may be asked of the planner, and
 * how it plans. A new planner is a class of its own and one line in {@link
 * dev.pipewright.planner.catalog.PlannerCatalog}.
 */
@NullMarked
package dev.pipewright.planner.catalog;

import org.jspecify.annotations.NullMarked;
