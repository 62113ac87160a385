package dev.pipewright.runtime.net;

import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.ScalarType;

/** While it is open, new tensors hold 64-bit numbers, so that differences are exact enough. */
final class DoublePrecision implements AutoCloseable {
  DoublePrecision() {
    set(ScalarType.Double);
  }

  private static void set(ScalarType type) {
    torch.set_default_dtype(torch.scalarTypeToTypeMeta(type));
  }

  @Override
  public void close() {
    set(ScalarType.Float);
  }
}
