package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;

/**
 * Workers that do something together. All members call the same operations in the same order, on
 * dense tensors of the same size.
 */
public interface Group {
  int size();

  /** Replaces the tensor of every member by the sum of all. */
  Pending sum(Tensor tensor);

  /** Replaces the tensor of every member by that of member {@code root}, counted in the group. */
  Pending broadcast(Tensor tensor, int root);

  /**
   * The tensors of all members one after the other.
   *
   * @param all as large as all of them together
   */
  Pending gather(Tensor own, Tensor all);

  /**
   * A part of the sum of all: as many parts as members, to each its own.
   *
   * @param own as large as a part
   */
  Pending sumParts(Tensor all, Tensor own);

  /**
   * Hands each other member a tensor of its own, of any size; nothing is sent where it has no
   * elements.
   *
   * @param to what each member gets, by member; its own place counts for nothing
   * @param from filled with what each member gives, likewise
   */
  Pending exchange(List<Tensor> to, List<Tensor> from);
}
