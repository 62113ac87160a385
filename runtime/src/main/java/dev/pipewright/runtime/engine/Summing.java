package dev.pipewright.runtime.engine;

import dev.pipewright.parallel.Reduction;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Pending;
import java.util.ArrayList;
import java.util.List;

/** How workers replace what each of them has by the sum of all. */
interface Summing {
  /** Begins with it; all begin in the same order, and await in the same order. */
  Pending sum(Tensor bucket);

  /** What divides the elements of each bucket. */
  default int divisor() {
    return 1;
  }

  /**
   * Sums over tensor-parallel groups, whose members all have replicas.
   *
   * @param place of this worker in its group
   * @param replicas of the same part
   */
  record OfTeams(Reduction how, Group tensorGroup, int place, Group replicas) implements Summing {
    @Override
    public int divisor() {
      return how == Reduction.HIERARCHICAL ? tensorGroup.size() : 1;
    }

    @Override
    public Pending sum(Tensor bucket) {
      return how == Reduction.HIERARCHICAL ? byParts(bucket) : byLeader(bucket);
    }

    private Pending byParts(Tensor bucket) {
      Tensor part = made(bucket.elements() / tensorGroup.size());
      Pending inside = tensorGroup.sumParts(bucket, part);
      return Pending.of(
          List.of(inside),
          () -> {
            replicas.sum(part).await();
            tensorGroup.gather(part, bucket).await();
            part.close();
          });
    }

    /** The leader adds up what the others send, in their order. */
    private Pending byLeader(Tensor bucket) {
      List<Tensor> to = new ArrayList<>();
      List<Tensor> from = new ArrayList<>();
      for (int member = 0; member < tensorGroup.size(); member++) {
        boolean sends = member == 0 && place != 0;
        boolean hears = member != 0 && place == 0;
        to.add(sends ? bucket.shared() : made(0));
        from.add(made(hears ? bucket.elements() : 0));
      }
      return Pending.of(
          List.of(tensorGroup.exchange(to, from)),
          () -> {
            if (place == 0) {
              from.subList(1, from.size()).forEach(bucket::addInPlace);
              replicas.sum(bucket).await();
            }
            to.forEach(Tensor::close);
            from.forEach(Tensor::close);
            tensorGroup.broadcast(bucket, 0).await();
          });
    }

    private static Tensor made(long elements) {
      try (Scope scope = new Scope()) {
        return scope.keep(Tensor.empty(elements));
      }
    }
  }
}
