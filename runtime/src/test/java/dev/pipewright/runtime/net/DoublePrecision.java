package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Torch;
import java.util.Objects;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * In each test new tensors hold 64-bit numbers, so that differences are exact enough, and live
 * until its end.
 */
final class DoublePrecision implements BeforeEachCallback, AfterEachCallback {
  private static final Namespace OURS = Namespace.create(DoublePrecision.class);

  private static void set(ScalarType type) {
    torch.set_default_dtype(torch.scalarTypeToTypeMeta(type));
  }

  @Override
  public void beforeEach(ExtensionContext test) {
    Torch.start(1);
    set(ScalarType.Double);
    test.getStore(OURS).put(Scope.class, new Scope());
  }

  @Override
  public void afterEach(ExtensionContext test) {
    Objects.requireNonNull(test.getStore(OURS).remove(Scope.class, Scope.class)).close();
    set(ScalarType.Float);
  }
}
