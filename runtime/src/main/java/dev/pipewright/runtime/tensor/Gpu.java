package dev.pipewright.runtime.tensor;

import org.bytedeco.javacpp.Loader;
import org.bytedeco.pytorch.Device;
import org.bytedeco.pytorch.Stat;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.DeviceType;
import org.bytedeco.pytorch.global.torch_cuda;

/**
 * The GPU that this process computes with, where it does. Several GPUs, and so NCCL, have not been
 * tried.
 *
 * <p>A GPU runs its commands later, so to measure how long one took is to wait for it with {@link
 * #finish}.
 */
public final class Gpu {
  /** A variable that the GPU's matrix products need to give the same numbers in each run. */
  public static final String WORKSPACE_VARIABLE = "CUBLAS_WORKSPACE_CONFIG";

  /** Eight workspaces of 4 MiB, as NVIDIA's documentation of cuBLAS asks for. */
  public static final String WORKSPACE = ":4096:8";

  private static final int ALL_POOLS = 0; // of the allocator's statistics

  private static volatile boolean used;
  private static volatile byte index;

  private Gpu() {}

  /**
   * New tensors lie on a GPU from here on. {@link Torch#start} comes first.
   *
   * @param worker which of the run's: workers take a machine's GPUs in turn
   * @return which of this machine's it is
   * @throws IllegalStateException with a sentence for the user where this build or this machine has
   *     none
   */
  public static int use(int worker) {
    load();
    if (!torch.cuda_is_available()) {
      throw new IllegalStateException(
          "--device cuda: the library finds no GPU; look whether its driver is installed, or leave"
              + " it out");
    }
    index = (byte) (worker % torch.cuda_device_count());
    torch_cuda.set_device(index);
    try (Scope scope = new Scope()) {
      NewTensors.lieOn(new Device(DeviceType.CUDA, index));
    }
    torch
        .globalContext()
        .setAllowTF32CuDNN(false); // fp32 is what plans and other workers count with
    used = true;
    return index;
  }

  private static void load() {
    if (!Libraries.forGpus()) {
      throw new IllegalStateException(
          "--device cuda: this build computes on processors only; set PIPEWRIGHT_TORCH=gpu on a"
              + " machine that has CUDA's libraries, or leave it out");
    }
    try {
      Loader.load(torch_cuda.class);
    } catch (LinkageError | TypeNotPresentException e) {
      throw new IllegalStateException(
          "--device cuda: CUDA's libraries are not installed; install them, or leave it out", e);
    }
  }

  /** Whether tensors lie on one. */
  public static boolean used() {
    return used;
  }

  /** Returns when the GPU has run this thread's commands; at once where there is none. */
  public static void finish() {
    if (used) {
      try (Scope scope = new Scope()) {
        torch_cuda.getCurrentCUDAStream().synchronize();
      }
    }
  }

  /** Bytes that tensors take there now. */
  public static long bytes() {
    try (Scope scope = new Scope()) {
      return allocated().current();
    }
  }

  /** The most since {@link #forgetPeak}. */
  public static long peakBytes() {
    try (Scope scope = new Scope()) {
      return allocated().peak();
    }
  }

  /** Counts the peak from here on. */
  public static void forgetPeak() {
    try (Scope scope = new Scope()) {
      torch_cuda.getAllocator().resetPeakStats(index);
    }
  }

  private static Stat allocated() {
    return torch_cuda.getAllocator().getDeviceStats(index).allocated_bytes().getPointer(ALL_POOLS);
  }
}
