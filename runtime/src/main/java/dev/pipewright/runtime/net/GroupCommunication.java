package dev.pipewright.runtime.net;

import dev.pipewright.parallel.Halo;
import dev.pipewright.parallel.Span;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Differentiable exchanges of a {@link TensorParallelGroup}, in pairs: the backward pass of one is
 * the forward pass of the other (M. Shoeybi et al., <i>Megatron-LM</i>, 2019, §3; V. Korthikanti et
 * al., <i>Reducing activation recomputation</i>, 2022, §4.2.2; ParaDL §3).
 */
final class GroupCommunication {
  private final TensorParallelGroup tensorGroup;

  GroupCommunication(TensorParallelGroup tensorGroup) {
    this.tensorGroup = tensorGroup;
  }

  private record SumBack() {}

  private record GatherBack(TensorCut cut) {}

  private record SumPartsBack(TensorCut cut) {}

  private record HaloBack(int tensorAxis, int gridAxis, Halo halo) {}

  /** What all have; its gradient is the sum of all members'. */
  Tensor shared(Tensor whole) {
    return whole.hasGradient()
        ? tensorGroup.hooked(new SumBack(), whole.passed(), this::summed)
        : whole;
  }

  private Tensor summed(Tensor gradient) {
    Tensor sum = gradient.copy().packed();
    tensorGroup.sumInPlace(sum);
    return sum;
  }

  /** The sum of what all have; each term's gradient is the sum's. */
  Tensor sum(Tensor term) {
    return term.carrying(summed(term.detached()));
  }

  /** All parts as one tensor; a part's gradient is its part of the whole's. */
  Tensor gathered(Tensor own, TensorCut cut) {
    return tensorGroup.assembled(own, cut);
  }

  /** One's part of what all have; the whole's gradient is all parts' gradients. */
  Tensor own(Tensor whole, TensorCut cut) {
    Tensor step =
        whole.hasGradient()
            ? tensorGroup.hooked(
                new GatherBack(cut), whole.passed(), gradient -> gatheredParts(gradient, cut))
            : whole;
    return tensorGroup.own(step, cut);
  }

  /** What is left of a gradient of which each member knows its part. */
  private Tensor gatheredParts(Tensor gradient, TensorCut cut) {
    return tensorGroup.assembled(tensorGroup.own(gradient, cut).packed(), cut);
  }

  /** All parts as one tensor that each uses for something else; their gradients are summed. */
  Tensor gatheredForParts(Tensor own, TensorCut cut) {
    return tensorGroup.hooked(
        new SumPartsBack(cut), gathered(own, cut), gradient -> inItsPlace(gradient, cut));
  }

  /** The whole gradient, of which only one's own part will be read. */
  private Tensor inItsPlace(Tensor gradient, TensorCut cut) {
    Tensor sum = partOfSum(gradient, cut);
    Tensor result = gradient.copy();
    tensorGroup.own(result, cut).copyInPlace(sum);
    return result;
  }

  /** One's part of the sum of what all have; each term's gradient is all parts'. */
  Tensor ownOfSum(Tensor term, TensorCut cut) {
    Tensor sum = partOfSum(term.detached(), cut);
    return own(term, cut).carrying(sum);
  }

  /** Each member gets what the others have of its part, and adds it up in their order. */
  private Tensor partOfSum(Tensor terms, TensorCut cut) {
    List<Tensor> to = new ArrayList<>();
    List<Tensor> from = new ArrayList<>();
    Tensor own = tensorGroup.own(terms, cut).packed();
    for (int other = 0; other < tensorGroup.parts(); other++) {
      Span span = cut.span(0, tensorGroup.split().place(other));
      to.add(terms.part(cut.axis(0), span.first(), span.count()).packed());
      from.add(Tensor.emptyPacked(own.shape()));
    }
    tensorGroup.all().exchange(to, from).await();
    Tensor sum = Tensor.zeros(own.shape());
    for (int other = 0; other < tensorGroup.parts(); other++) {
      sum.addInPlace(other == tensorGroup.part() ? own : from.get(other));
    }
    return sum;
  }

  /**
   * The rows of a map that the windows of this member reach over along an axis, from the members
   * that have them, with padding. The gradients of borrowed rows go back to their owners, who add
   * them to those of their own.
   *
   * @param fill what padding holds
   */
  Tensor reached(Tensor own, int axis, int gridAxis, Halo halo, double fill) {
    int place = tensorGroup.place(gridAxis);
    Tensor hull = own;
    if (halo.exchanges()) {
      Tensor joined = joined(borrowed(own, axis, gridAxis, halo), own, axis, place);
      hull =
          tensorGroup.hooked(
              new HaloBack(axis, gridAxis, halo),
              joined,
              gradient -> returned(gradient, axis, gridAxis, halo));
    }
    return padded(window(hull, axis, place, halo), axis, place, halo, fill);
  }

  /** The rows of all members along an axis that this one needs; its own place holds nothing. */
  private List<Tensor> borrowed(Tensor own, int axis, int gridAxis, Halo halo) {
    int place = tensorGroup.place(gridAxis);
    List<Tensor> to = new ArrayList<>();
    List<Tensor> from = new ArrayList<>();
    for (int other = 0; other < halo.parts(); other++) {
      boolean self = other == place;
      Span lent = self ? new Span(0, 0) : halo.lent(place, other);
      to.add(rows(own.detached(), axis, lent, halo.owned(place).first()));
      long rows = self ? 0 : halo.lent(other, place).count();
      from.add(Tensor.emptyPacked(with(own.shape(), axis, rows)));
    }
    tensorGroup.along(gridAxis).exchange(to, from).await();
    return from;
  }

  private static Tensor rows(Tensor tensor, int axis, Span span, long origin) {
    long first = span.count() == 0 ? 0 : span.first() - origin;
    return tensor.part(axis, first, span.count()).packed();
  }

  private static long[] with(long[] shape, int axis, long rows) {
    long[] other = shape.clone();
    other[axis] = rows;
    return other;
  }

  /** Always a tensor of its own, so that the hook on it sees this reader's gradient alone. */
  private static Tensor joined(List<Tensor> borrowed, Tensor own, int axis, int place) {
    List<Tensor> all = new ArrayList<>(borrowed.subList(0, place));
    all.add(own);
    all.addAll(borrowed.subList(place + 1, borrowed.size()));
    all.removeIf(tensor -> tensor != own && tensor.extent(axis) == 0);
    return all.size() == 1 ? own.passed() : Tensor.joined(all, axis);
  }

  /** Cuts off the rows that only others need. */
  private static Tensor window(Tensor hull, int axis, int place, Halo halo) {
    Span owned = halo.owned(place);
    Span needed = halo.needed(place);
    long first = Math.clamp(needed.first() - owned.first(), 0, owned.count());
    return needed.count() == hull.extent(axis) ? hull : hull.part(axis, first, needed.count());
  }

  private static Tensor padded(Tensor window, int axis, int place, Halo halo, double fill) {
    long before = halo.paddingBefore(place);
    long after = halo.paddingAfter(place);
    if (before + after == 0) {
      return window;
    }
    List<Tensor> all = new ArrayList<>(List.of(window));
    if (before > 0) {
      all.add(0, filled(with(window.shape(), axis, before), fill));
    }
    if (after > 0) {
      all.add(filled(with(window.shape(), axis, after), fill));
    }
    return Tensor.joined(all, axis);
  }

  private static Tensor filled(long[] shape, double fill) {
    return fill == 0 ? Tensor.zeros(shape) : Tensor.ones(shape).scaleInPlace(fill);
  }

  /** Sends the gradients of borrowed rows back, and adds what comes back to those of one's own. */
  private Tensor returned(Tensor gradient, int axis, int gridAxis, Halo halo) {
    int place = tensorGroup.place(gridAxis);
    Span owned = halo.owned(place);
    List<Tensor> to = new ArrayList<>();
    List<Tensor> from = new ArrayList<>();
    long at = 0; // in the hull
    long ownAt = 0;
    for (int other = 0; other < halo.parts(); other++) {
      boolean self = other == place;
      long rows = self ? owned.count() : halo.lent(other, place).count();
      to.add(gradient.part(axis, at, self ? 0 : rows).packed());
      from.add(
          Tensor.emptyPacked(
              with(gradient.shape(), axis, self ? 0 : halo.lent(place, other).count())));
      ownAt = self ? at : ownAt;
      at += rows;
    }
    tensorGroup.along(gridAxis).exchange(to, from).await();
    Tensor result = gradient.copy();
    for (int other = 0; other < halo.parts(); other++) {
      Span span = halo.lent(place, other);
      if (other != place && span.count() > 0) {
        result
            .part(axis, ownAt + span.first() - owned.first(), span.count())
            .addInPlace(from.get(other));
      }
    }
    return result;
  }
}
