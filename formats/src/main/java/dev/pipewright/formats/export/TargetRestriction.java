package dev.pipewright.formats.export;

import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Restriction;
import java.util.List;
import java.util.Optional;

/** The plans that a target can say of a network on a cluster, for searches that keep to them. */
final class TargetRestriction implements Restriction {
  private final PlanExport target;
  private final ExportSubject subject;
  private final List<String> schedules; // none where it has all

  /**
   * Of a target.
   *
   * @param subject any plan of the network on the cluster
   */
  TargetRestriction(PlanExport target, ExportSubject subject) {
    this.target = target;
    this.subject = subject;
    this.schedules = target.schedules(subject);
  }

  @Override
  public boolean allows(String schedule) {
    return schedules.isEmpty() || schedules.contains(schedule);
  }

  @Override
  public Optional<PipelinePlan> nearest(PipelinePlan plan) {
    return target.nearest(subject.with(plan));
  }
}
