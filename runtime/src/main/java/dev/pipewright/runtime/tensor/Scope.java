package dev.pipewright.runtime.tensor;

import org.bytedeco.javacpp.PointerScope;

/**
 * What a block of code computes with: at its end every tensor that was made in it on the same
 * thread is freed, except those that it {@linkplain #keep keeps}. Scopes nest.
 */
public final class Scope implements AutoCloseable {
  private final PointerScope scope = new PointerScope();

  /** Takes a tensor out of the scope, so that it lives until it is closed, and returns it. */
  public Tensor keep(Tensor tensor) {
    return tensor.retained();
  }

  @Override
  public void close() {
    scope.close();
  }
}
