package dev.pipewright.runtime.net;

import dev.pipewright.parallel.Span;
import dev.pipewright.runtime.tensor.RowCounts;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Expert parallelism: each member of a group has some of the experts of a mixture, gets the rows of
 * all members for these, and sends back what the experts make of them (D. Lepikhin et al.,
 * <i>GShard</i>, ICLR 2021, §3.1). No row is dropped, so members tell each other first how many
 * rows there are.
 *
 * @param experts of all
 */
record ExpertOwners(TensorParallelGroup tensorGroup, int experts) {
  /** What a member's own experts make of rows, as many as there are for each expert. */
  interface Own {
    Tensor made(Tensor rows, long[] counts);
  }

  private Span own(int member) {
    return Span.of(experts, member, tensorGroup.parts());
  }

  /**
   * What the experts of all members make of this one's rows.
   *
   * @param rows × features, expert by expert
   * @param counts rows of each expert
   */
  Tensor made(Tensor rows, long[] counts, ForwardPass pass, Own own) {
    int members = tensorGroup.parts();
    long[][] coming = counts(counts); // by member and own expert
    long[] sent = new long[members];
    long[] received = new long[members];
    for (int member = 0; member < members; member++) {
      Span span = own(member);
      for (long expert = span.first(); expert < span.end(); expert++) {
        sent[member] += counts[(int) expert];
      }
      received[member] = LongStream.of(coming[member]).sum();
    }
    Tensor arrived = exchange(rows, pass).of(rows, sent, received);
    List<Long> order = byExpert(coming);
    Tensor made = own.made(arrived.rows(whole(order)), sums(coming));
    Tensor leaving = made.rows(whole(inverse(order)));
    return exchange(leaving, pass).of(leaving, received, sent);
  }

  private RowExchange exchange(Tensor rows, ForwardPass pass) {
    return rows.hasGradient() ? tensorGroup.rowExchange(pass) : new RowExchange(tensorGroup);
  }

  /** Rows that each member has for each of this one's experts. */
  private long[][] counts(long[] own) {
    int members = tensorGroup.parts();
    int mine = (int) own(tensorGroup.part()).count();
    Tensor all = RowCounts.of(own);
    List<Tensor> to = new ArrayList<>();
    List<Tensor> from = new ArrayList<>();
    for (int member = 0; member < members; member++) {
      Tensor part = all.part(0, own(member).first(), own(member).count());
      to.add(part.packed());
      from.add(member == tensorGroup.part() ? part : Tensor.emptyPacked(mine));
    }
    tensorGroup.all().exchange(to, from).await();
    return from.stream().map(RowCounts::in).toArray(long[][]::new);
  }

  private static long[] sums(long[][] coming) {
    long[] sums = new long[coming[0].length];
    for (long[] member : coming) {
      for (int expert = 0; expert < sums.length; expert++) {
        sums[expert] += member[expert];
      }
    }
    return sums;
  }

  /** Rows that have come member by member, in the order of the experts. */
  private static List<Long> byExpert(long[][] coming) {
    List<Long> order = new ArrayList<>();
    for (int expert = 0; expert < coming[0].length; expert++) {
      long first = 0;
      for (long[] member : coming) {
        long at = first + LongStream.of(member).limit(expert).sum();
        for (long row = 0; row < member[expert]; row++) {
          order.add(at + row);
        }
        first += LongStream.of(member).sum();
      }
    }
    return order;
  }

  private static List<Long> inverse(List<Long> order) {
    Long[] inverse = new Long[order.size()];
    for (int i = 0; i < inverse.length; i++) {
      inverse[order.get(i).intValue()] = (long) i;
    }
    return List.of(inverse);
  }

  private static Tensor whole(List<Long> numbers) {
    return Tensor.ofWhole(numbers.stream().mapToLong(Long::longValue).toArray(), numbers.size());
  }
}
