package dev.pipewright.formats;

import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.planner.pipedream.BandwidthLevel;
import java.util.List;
import java.util.OptionalDouble;

/**
 * An asynchronous plan and what it was made for, as far as the file says it.
 *
 * @param levels of the cluster, innermost first; none where the file names none
 * @param objective seconds of an update that its planner expects
 */
public record AsynchronousFile(
    AsynchronousPlan plan, MadeFor madeFor, List<BandwidthLevel> levels, OptionalDouble objective)
    implements ReadPlan {
  public AsynchronousFile {
    levels = List.copyOf(levels);
  }
}
