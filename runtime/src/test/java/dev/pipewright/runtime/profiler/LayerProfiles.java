package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.ProfilingOutcome.PassSeconds;
import dev.pipewright.execution.ProfilingOutcome.Spread;
import dev.pipewright.execution.ProfilingRequest;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import dev.pipewright.runtime.training.RunnableModel;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** The part of a profile that comes from layers alone. */
public final class LayerProfiles {
  private static final WholeStep UNSEEN =
      new WholeStep(Spread.of(new double[] {0}), new PassSeconds(0, 0, 0, 0, 0, 0), 0);

  private LayerProfiles() {}

  /**
   * Sizes, memory and processor times of all layers as {@link Profiler} measures them, without the
   * whole steps to which it stretches times of the wall clock.
   */
  public static Profile of(ProfilingRequest request) {
    WorkerGroups workers = new WorkerGroups(request.threads());
    String job = LayersJob.of(request).text();
    List<LayersReport> reports = new ArrayList<>();
    workers.run(1, LayersTask.class, job, (worker, text) -> reports.add(LayersReport.parse(text)));
    List<List<LayerMemory>> memory = new ArrayList<>();
    workers.runFrugal(1, NeedsTask.class, job, (worker, text) -> memory.add(NeedsTask.parse(text)));
    return new MeasuredProfile(
            request,
            RunnableModel.toCompute(request.model(), OptionalInt.empty()),
            reports,
            List.of(UNSEEN),
            memory)
        .profile();
  }
}
