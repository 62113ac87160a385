package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.transport.Transport;
import java.util.List;

/** Running averages of normalisations, which each worker that holds a stage has of its samples. */
final class HolderAverages {
  private HolderAverages() {}

  /**
   * Replaces the averages of all workers that hold the same part of a stage by those of the first
   * one. Collective: every one of them must call it.
   */
  static void share(
      Assignment assignment, Transport transport, int stage, List<Parameter> averages) {
    List<Integer> holders = assignment.holders(stage, transport.worker());
    int from = holders.get(0);
    int tag = 0;
    for (Parameter average : averages) {
      if (transport.worker() != from) {
        transport.receive(average.value(), from, tag).await();
      } else {
        for (int to : holders.subList(1, holders.size())) {
          transport.send(average.value(), to, tag).await();
        }
      }
      tag++;
    }
  }
}
