package dev.pipewright.runtime.engine;

import dev.pipewright.execution.Emulation;
import dev.pipewright.execution.Emulation.LayerSeconds;
import dev.pipewright.plan.SampleRange;
import java.util.Collection;

/** Computes nothing and takes the time that a device would. Nothing is learnt. */
final class Emulated implements Computation {
  private final Emulation emulation;
  private final double update; // seconds

  /**
   * @param updated stages, all at once
   */
  Emulated(Emulation emulation, Collection<? extends OwnStage> updated) {
    this.emulation = emulation;
    double sum = 0;
    for (OwnStage own : updated) {
      sum += emulation.seconds(own.stage().range(), LayerSeconds::update);
    }
    update = sum;
  }

  @Override
  public Flight flight(OwnStage own, long step, SampleRange samples, boolean keeps) {
    return new EmulatedFlight(own.stage(), emulation, samples.count(), keeps);
  }

  @Override
  public void update(Runnable learning) {
    Pause.of(update);
  }

  @Override
  public Score score(long step) {
    return Score.NONE;
  }
}
