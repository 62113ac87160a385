package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.GradientHook;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A differentiable all-to-all of rows, as many as each member has for each other. In the backward
 * pass their gradients go back. One exchange serves one step of one history at a time.
 *
 * <p>Rows that came are not made of rows that went, so two hooks bring the gradient across: one
 * where rows came, which sends gradients back, and one where they went, which passes on what has
 * come back. A member's rows for itself connect both.
 */
final class RowExchange {
  private final TensorParallelGroup tensorGroup;
  private final GradientHook where = new GradientHook(this::sentBack);
  private final GradientHook whence = new GradientHook(gradient -> cameBack());
  private long[] sent = {}; // rows, by member
  private long[] received = {}; // likewise
  private @Nullable Tensor back; // gradient of the rows that went

  RowExchange(TensorParallelGroup tensorGroup) {
    this.tensorGroup = tensorGroup;
  }

  /**
   * The rows that come, member by member.
   *
   * @param rows × features, in the order of the members that they go to
   * @param going rows to each member
   * @param coming rows from each
   */
  Tensor of(Tensor rows, long[] going, long[] coming) {
    sent = going.clone();
    received = coming.clone();
    if (!rows.hasGradient()) {
      return exchanged(rows, sent, received);
    }
    return where.on(exchanged(whence.on(rows.passed()), sent, received));
  }

  private Tensor exchanged(Tensor rows, long[] going, long[] coming) {
    int self = tensorGroup.part();
    List<Tensor> to = new ArrayList<>();
    List<Tensor> from = new ArrayList<>();
    long first = 0;
    for (int other = 0; other < tensorGroup.parts(); other++) {
      Tensor part = rows.part(0, first, going[other]);
      to.add(part.detached().packed());
      from.add(other == self ? part : Tensor.emptyPacked(coming[other], rows.extent(1)));
      first += going[other];
    }
    tensorGroup.all().exchange(to, from).await();
    return Tensor.joined(from, 0);
  }

  private Tensor sentBack(Tensor gradient) {
    try (Scope scope = new Scope()) {
      back = scope.keep(exchanged(gradient.detached(), received, sent));
    }
    return gradient.detached();
  }

  private Tensor cameBack() {
    Tensor gradient = back;
    if (gradient == null) {
      throw new IllegalStateException("gradients of rows are wanted before they have come back");
    }
    back = null;
    return gradient;
  }
}
