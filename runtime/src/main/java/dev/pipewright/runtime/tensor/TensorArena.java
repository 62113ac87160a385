package dev.pipewright.runtime.tensor;

import org.bytedeco.pytorch.Storage;

/**
 * One block of memory that holds several tensors. It can be released while they live on: they keep
 * their shapes, and autograd histories refer to the same memory, so that both are valid again once
 * it has been filled.
 */
public final class TensorArena implements AutoCloseable {
  private final Tensor memory;
  private final long bytes;

  /** Room for so many numbers, which are 0. */
  public TensorArena(long elements) {
    try (Scope scope = new Scope()) {
      memory = scope.keep(Tensor.zeros(elements));
    }
    bytes = memory.bytes();
  }

  /** All its numbers. */
  public Tensor numbers() {
    return memory;
  }

  /** Some of its numbers as a tensor, which belongs to the scope that is open. */
  public Tensor view(long from, long... shape) {
    long elements = 1;
    for (long extent : shape) {
      elements *= extent;
    }
    return memory.part(0, from, elements).reshaped(shape);
  }

  /**
   * Has a tensor lie in it, with what it holds. Its gradient stays; histories must not have kept it
   * so far.
   *
   * @param from the place of its first number
   */
  public void take(Tensor tensor, long from) {
    try (Scope scope = new Scope()) {
      Tensor place = view(from, tensor.shape());
      place.copyInPlace(tensor.detached());
      tensor.handle().set_data(place.handle());
    }
  }

  /** Has a tensor lie where another does that was taken before. */
  public void share(Tensor tensor, long from) {
    try (Scope scope = new Scope()) {
      tensor.handle().set_data(view(from, tensor.shape()).handle());
    }
  }

  /** Has a tensor lie in the memory of another of the same shape; its gradient stays its own. */
  public static void alias(Tensor tensor, Tensor that) {
    try (Scope scope = new Scope()) {
      tensor.handle().set_data(that.detached().handle());
    }
  }

  /** Whether there are numbers. */
  public boolean filled() {
    return bytes() == bytes;
  }

  /** Gives the memory back. */
  public void empty() {
    empty(memory);
  }

  /** Gives the memory of a tensor back, whatever else lies in it. */
  public static void empty(Tensor tensor) {
    try (Scope scope = new Scope()) {
      Storage storage = tensor.handle().storage();
      storage.mutable_data_ptr().clear();
      storage.set_nbytes(0L);
    }
  }

  /** Has the memory of one tensor be that of another of the same size; the first has none then. */
  public static void move(Tensor from, Tensor to) {
    try (Scope scope = new Scope()) {
      Storage source = from.handle().storage();
      Storage target = to.handle().storage();
      target.set_data_ptr(source.mutable_data_ptr());
      target.set_nbytes(source.nbytes());
      source.set_nbytes(0L);
    }
  }

  /**
   * A tensor of the same shape that has the memory of another, which has none then; it belongs to
   * the scope that is open.
   */
  public static Tensor taken(Tensor from) {
    Tensor taken = Tensor.empty(0);
    move(from, taken);
    taken.handle().resize_(from.shape()); // which finds room enough
    return taken;
  }

  /** What the memory of a tensor takes up now. */
  public static long bytes(Tensor tensor) {
    try (Scope scope = new Scope()) {
      return tensor.handle().storage().nbytes();
    }
  }

  /** Has memory again, with any numbers. */
  public void fill() {
    try (Scope scope = new Scope()) {
      move(Tensor.empty(memory.shape()), memory);
    }
  }

  /** What it takes up now. */
  public long bytes() {
    return bytes(memory);
  }

  @Override
  public void close() {
    memory.close();
  }
}
