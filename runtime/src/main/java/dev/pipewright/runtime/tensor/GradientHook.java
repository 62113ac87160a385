package dev.pipewright.runtime.tensor;

import java.util.HashSet;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.bytedeco.pytorch.TensorBase;
import org.bytedeco.pytorch.TensorTensorHook;
import org.jspecify.annotations.Nullable;

/**
 * Changes gradients on their way through a backward pass, on the thread that runs it. It lives
 * until it is closed, and must not be closed before every history that it is part of is gone.
 */
public final class GradientHook implements AutoCloseable {
  private static final ThreadLocal<Set<Native>> CALLED = ThreadLocal.withInitial(HashSet::new);

  private final Native hook;

  /** Hands each gradient on as {@code change} makes it. */
  public GradientHook(UnaryOperator<Tensor> change) {
    hook = new Native(change);
    hook.retainReference(); // a scope that ends must not free it
  }

  private static final class Native extends TensorTensorHook {
    private final UnaryOperator<Tensor> change;

    private @Nullable Tensor last; // which the pass reads only after the call

    private Native(UnaryOperator<Tensor> change) {
      this.change = change;
    }

    @Override
    public TensorBase call(TensorBase gradient) {
      forget();
      try (Scope scope = new Scope();
          gradient) { // a copy of the caller's, which would else live as long as the scope around
        Tensor changed = change.apply(new Tensor(new org.bytedeco.pytorch.Tensor(gradient)));
        last = scope.keep(changed);
        CALLED.get().add(this);
        return changed.handle();
      }
    }

    private void forget() {
      if (last != null) {
        last.close();
        last = null;
      }
    }
  }

  /** Frees what hooks returned in a finished backward pass of this thread. */
  static void passEnds() {
    CALLED.get().forEach(Native::forget);
    CALLED.get().clear();
  }

  /** Installs the hook on a tensor, whose incoming gradients it changes, and returns the tensor. */
  public Tensor on(Tensor tensor) {
    tensor.handle().register_hook(hook);
    return tensor;
  }

  @Override
  public void close() {
    hook.forget();
    hook.close();
  }
}
