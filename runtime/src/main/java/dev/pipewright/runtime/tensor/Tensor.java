package dev.pipewright.runtime.tensor;

import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.bytedeco.javacpp.FloatPointer;
import org.bytedeco.javacpp.LongPointer;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.MemoryFormat;
import org.bytedeco.pytorch.global.torch.ScalarType;

/**
 * An array of 32-bit floating-point numbers, or of whole numbers where it holds tokens or classes.
 * It lives until its {@link Scope} ends or, where none is open or it was kept, until it is closed.
 *
 * <p>Methods that end in {@code InPlace} change the tensor, all others make a new one.
 */
public final class Tensor implements AutoCloseable {
  private static final int MAP_AXES = 4; // samples, channels and two axes

  private final org.bytedeco.pytorch.Tensor handle;

  /** A native tensor in our words. */
  public Tensor(org.bytedeco.pytorch.Tensor handle) {
    this.handle = handle;
  }

  /** The native tensor; for {@code tensor} and {@code transport} only. */
  public org.bytedeco.pytorch.Tensor handle() {
    return handle;
  }

  Tensor retained() {
    handle.retainReference();
    return this;
  }

  /** Numbers in row-major order. */
  public static Tensor of(float[] values, long... shape) {
    checkSize(values.length, shape);
    org.bytedeco.pytorch.Tensor host = NewTensors.onHost(false, shape);
    try (FloatPointer memory = new FloatPointer(host.data_ptr())) {
      memory.put(values, 0, values.length);
    }
    return new Tensor(NewTensors.placed(host));
  }

  /** Whole numbers in row-major order. */
  public static Tensor ofWhole(long[] values, long... shape) {
    checkSize(values.length, shape);
    org.bytedeco.pytorch.Tensor host = NewTensors.onHost(true, shape);
    if (values.length > 0) { // an empty tensor has no memory
      try (LongPointer memory = new LongPointer(host.data_ptr())) {
        memory.put(values, 0, values.length);
      }
    }
    return new Tensor(NewTensors.placed(host));
  }

  private static void checkSize(long values, long... shape) {
    long size = 1;
    for (long extent : shape) {
      size *= extent;
    }
    Check.that(values == size, "a tensor is full: values=%d, elements=%d", values, size);
  }

  /** A tensor with uninitialized elements. */
  public static Tensor empty(long... shape) {
    return new Tensor(NewTensors.empty(shape));
  }

  /** An uninitialized tensor, {@linkplain #packed packed}. */
  public static Tensor emptyPacked(long... shape) {
    return new Tensor(
        shape.length == MAP_AXES ? NewTensors.emptyMaps(shape) : NewTensors.empty(shape));
  }

  /** Integers, uninitialized. */
  public static Tensor emptyWhole(long... shape) {
    return new Tensor(NewTensors.emptyWhole(shape));
  }

  public static Tensor zeros(long... shape) {
    return new Tensor(NewTensors.zeros(shape));
  }

  public static Tensor ones(long... shape) {
    return new Tensor(NewTensors.ones(shape));
  }

  /** A tensor of this shape and element type, uninitialized, in memory that the processor reads. */
  public Tensor twinOnHost() {
    return new Tensor(NewTensors.onHost(whole(), shape()));
  }

  /** Concatenates tensors along an axis. */
  public static Tensor joined(List<Tensor> parts, int axis) {
    return new Tensor(torch.cat(vector(parts), axis));
  }

  static TensorVector vector(List<Tensor> tensors) {
    org.bytedeco.pytorch.Tensor[] handles = new org.bytedeco.pytorch.Tensor[tensors.size()];
    for (int i = 0; i < handles.length; i++) {
      handles[i] = tensors.get(i).handle;
    }
    return new TensorVector(handles);
  }

  public long[] shape() {
    long[] shape = new long[(int) handle.dim()];
    for (int axis = 0; axis < shape.length; axis++) {
      shape[axis] = handle.size(axis);
    }
    return shape;
  }

  public long extent(int axis) {
    return handle.size(axis);
  }

  public long elements() {
    return handle.numel();
  }

  public long bytes() {
    return handle.nbytes();
  }

  /** Whether it holds whole numbers. */
  public boolean whole() {
    return handle.scalar_type().intern() == ScalarType.Long;
  }

  /** The only number of it. */
  public double item() {
    return handle.item_double();
  }

  /** All numbers in row-major order. */
  public float[] toFloats() {
    float[] values = new float[Math.toIntExact(elements())];
    try (org.bytedeco.pytorch.Tensor dense = handle.contiguous();
        org.bytedeco.pytorch.Tensor near = dense.cpu();
        FloatPointer memory = new FloatPointer(near.data_ptr())) {
      memory.get(values);
    }
    return values;
  }

  /** All whole numbers in row-major order. */
  public long[] toWhole() {
    long[] values = new long[Math.toIntExact(elements())];
    if (values.length == 0) {
      return values; // an empty tensor has no memory
    }
    try (org.bytedeco.pytorch.Tensor dense = handle.contiguous();
        org.bytedeco.pytorch.Tensor near = dense.cpu();
        LongPointer memory = new LongPointer(near.data_ptr())) {
      memory.get(values);
    }
    return values;
  }

  /** Whether shape and numbers are the same, bit by bit but for the sign of zero. */
  public boolean sameAs(Tensor that) {
    return handle.equal(that.handle);
  }

  /** Whether all numbers are finite. */
  public boolean finite() {
    try (Scope scope = new Scope()) {
      return handle.isfinite().all().item_bool();
    }
  }

  // ---- the same numbers, seen differently

  /** Some rows of it: {@code count} from {@code first} on along an axis. Shares its memory. */
  public Tensor part(int axis, long first, long count) {
    return new Tensor(handle.narrow(axis, first, count));
  }

  public Tensor reshaped(long... shape) {
    return new Tensor(handle.reshape(shape));
  }

  /** All axes from {@code axis} on as one. */
  public Tensor flattened(int axis) {
    return new Tensor(handle.flatten(axis, -1));
  }

  public Tensor transposed(int axis, int other) {
    return new Tensor(handle.transpose(axis, other));
  }

  /** The rows along the first axis that whole numbers name. */
  public Tensor rows(Tensor indices) {
    return new Tensor(handle.index_select(0, indices.handle));
  }

  /** One entry along an axis, which is gone. */
  public Tensor at(int axis, long index) {
    return new Tensor(handle.select(axis, index));
  }

  /** All entries along an axis, which is gone: their gradients are put together at once. */
  public List<Tensor> entries(int axis) {
    TensorVector parts = handle.unbind(axis);
    List<Tensor> all = new ArrayList<>();
    for (long i = 0; i < parts.size(); i++) {
      all.add(shared(parts.get(i)));
    }
    return all;
  }

  /**
   * This tensor in one piece of memory. Maps with two axes have the channels of each position side
   * by side, which is the order in which convolutions are fastest; all others are in row-major
   * order.
   */
  public Tensor packed() {
    return new Tensor(
        handle.dim() == MAP_AXES
            ? handle.contiguous(MemoryFormat.ChannelsLast)
            : handle.contiguous());
  }

  /** A copy with memory of its own. */
  public Tensor copy() {
    return new Tensor(handle.clone());
  }

  /** A view of the same memory without history. */
  public Tensor detached() {
    return new Tensor(handle.detach());
  }

  /** This tensor as a step of the history, so that a gradient given to it passes through. */
  public Tensor passed() {
    return new Tensor(handle.view_as(handle));
  }

  /**
   * Other numbers as the next step of this tensor's history: a gradient that is given to them
   * passes through.
   *
   * @param numbers of the same shape
   */
  public Tensor carrying(Tensor numbers) {
    Tensor step = passed();
    step.handle.set_data(numbers.handle);
    return step;
  }

  /**
   * A second handle of this tensor and its history, which no scope frees: it lives until it is
   * closed.
   */
  public Tensor shared() {
    return shared(handle).retained();
  }

  /** A second handle of this tensor and its history, which the open scope frees. */
  public Tensor lent() {
    return shared(handle);
  }

  /**
   * Makes this handle refer to that tensor, with its gradient and history. What has been computed
   * with the one before keeps that.
   */
  public void become(Tensor that) {
    handle.put(that.handle);
  }

  /** A tensor that outlives the object that {@code part} is a part of. */
  static Tensor shared(org.bytedeco.pytorch.Tensor part) {
    return new Tensor(new org.bytedeco.pytorch.Tensor(part));
  }

  // ---- gradients

  /** Has gradients computed for it from here on. Whole numbers have none. */
  public Tensor withGradient() {
    handle.set_requires_grad(true);
    return this;
  }

  /** Whether gradients are computed for it. */
  public boolean hasGradient() {
    return handle.requires_grad();
  }

  /** What backward passes have added up for it. */
  public Optional<Tensor> gradient() {
    org.bytedeco.pytorch.Tensor field = handle.grad(); // a part of this tensor: it ends with it
    return field.defined() ? Optional.of(shared(field)) : Optional.empty();
  }

  /** Has backward passes add to this tensor. */
  public void setGradient(Tensor gradient) {
    handle.mutable_grad().put(gradient.handle);
  }

  /**
   * Has the gradient lie in memory of its own. A backward pass may give leaves one and the same
   * memory, such as two vectors that were added to one row; what the next pass adds to one of them
   * would then be added to the other, too.
   */
  public void ownGradient() {
    org.bytedeco.pytorch.Tensor field = handle.grad();
    if (field.defined() && field.storage().use_count() > 1) {
      handle.mutable_grad().put(field.clone());
    }
  }

  /** Forgets the gradient and frees its memory. */
  public void clearGradient() {
    handle.mutable_grad().reset();
  }

  // ---- arithmetic

  public Tensor plus(Tensor that) {
    return new Tensor(handle.add(that.handle));
  }

  public Tensor minus(Tensor that) {
    return new Tensor(handle.sub(that.handle));
  }

  public Tensor times(Tensor that) {
    return new Tensor(handle.mul(that.handle));
  }

  public Tensor times(double factor) {
    return new Tensor(handle.mul(new Scalar(factor)));
  }

  /** The product of matrices over the last two axes. */
  public Tensor product(Tensor that) {
    return new Tensor(handle.matmul(that.handle));
  }

  /** Divided element by element. */
  public Tensor over(Tensor that) {
    return new Tensor(handle.div(that.handle));
  }

  /** One divided by the root of each number plus {@code added}. */
  public Tensor inverseRoot(double added) {
    return new Tensor(handle.add(new Scalar(added)).rsqrt());
  }

  /** The sums along some axes, which are gone. */
  public Tensor sums(long... axes) {
    return new Tensor(handle.sum(axes));
  }

  /** The sum of all numbers. */
  public Tensor sum() {
    return new Tensor(handle.sum());
  }

  public Tensor addInPlace(Tensor that) {
    handle.add_(that.handle);
    return this;
  }

  /** Adds {@code factor · that}. */
  public Tensor addInPlace(Tensor that, double factor) {
    handle.add_(that.handle, new Scalar(factor));
    return this;
  }

  public Tensor scaleInPlace(double factor) {
    handle.mul_(new Scalar(factor));
    return this;
  }

  public Tensor copyInPlace(Tensor that) {
    handle.copy_(that.handle);
    return this;
  }

  public Tensor zeroInPlace() {
    handle.zero_();
    return this;
  }

  @Override
  public void close() {
    handle.close();
  }
}
