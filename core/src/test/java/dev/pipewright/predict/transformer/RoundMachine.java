package dev.pipewright.predict.transformer;

/** A machine of round numbers. */
public final class RoundMachine {
  private RoundMachine() {}

  /** 100 TFLOP/s, 1 TB/s, 100 multiprocessors, 100 GB/s of NVLink, 10 GB/s of network per GPU. */
  public static GpuMachine get() {
    return new GpuMachine(
        "round",
        "a100",
        GpuMachine.Family.A100,
        80e9,
        1.2e9,
        1e14,
        1e14,
        1e14,
        1e12,
        100,
        1e11,
        8,
        1e10,
        1e10,
        0);
  }
}
