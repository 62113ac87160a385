package dev.pipewright.runtime.engine;

import dev.pipewright.execution.Emulation;
import dev.pipewright.execution.Emulation.LayerSeconds;
import dev.pipewright.plan.SampleRange;

/** Computes nothing and takes the time that a device would. Nothing is learnt. */
final class Emulated implements Computation {
  private final Emulation emulation;

  Emulated(Emulation emulation) {
    this.emulation = emulation;
  }

  @Override
  public Flight flight(StageParameters own, long step, SampleRange samples, boolean keeps) {
    return new EmulatedFlight(own.stage(), emulation, samples.count(), keeps);
  }

  @Override
  public boolean learns() {
    return false;
  }

  @Override
  public void update(Stage stage, Runnable learning) {
    Pause.of(emulation.seconds(stage.range(), LayerSeconds::update));
  }

  @Override
  public Score score(long step) {
    return Score.NONE;
  }
}
