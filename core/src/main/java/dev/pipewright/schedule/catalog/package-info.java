/**
 * The catalogue of schedules: a name, how to make the schedule, and what holds for it. A new
 * schedule is a class of its own and one line in {@link
 * dev.pipewright.schedule.catalog.ScheduleCatalog}.
 */
@NullMarked
package dev.pipewright.schedule.catalog;

import org.jspecify.annotations.NullMarked;
