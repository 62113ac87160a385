package dev.pipewright.runtime.tensor;

import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.Device;
import org.bytedeco.pytorch.MemoryFormatOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.ScalarTypeOptional;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.MemoryFormat;
import org.bytedeco.pytorch.global.torch.ScalarType;

/** The place of new tensors: the host's memory, or the GPU that this process uses. */
final class NewTensors {
  static {
    Torch.load();
  }

  private static final MemoryFormatOptional ROW_MAJOR = kept(new MemoryFormatOptional());
  private static final MemoryFormatOptional CHANNELS_LAST =
      kept(new MemoryFormatOptional(MemoryFormat.ChannelsLast));
  private static final TensorOptions HOST = kept(new TensorOptions());
  private static final TensorOptions HOST_WHOLE = kept(new TensorOptions(ScalarType.Long));

  private static volatile boolean elsewhere;
  private static volatile TensorOptions numbers = HOST;
  private static volatile TensorOptions whole = HOST_WHOLE;

  private NewTensors() {}

  /** Sets the device of all later tensors. */
  static void lieOn(Device device) {
    numbers = kept(new TensorOptions(device));
    whole = kept(new TensorOptions(device).dtype(new ScalarTypeOptional(ScalarType.Long)));
    elsewhere = true;
  }

  /** Kept whatever scope is open. */
  private static <P extends Pointer> P kept(P pointer) {
    pointer.retainReference();
    return pointer;
  }

  static org.bytedeco.pytorch.Tensor empty(long... shape) {
    return torch.empty(shape, numbers, ROW_MAJOR);
  }

  static org.bytedeco.pytorch.Tensor emptyMaps(long... shape) {
    return torch.empty(shape, numbers, CHANNELS_LAST);
  }

  static org.bytedeco.pytorch.Tensor emptyWhole(long... shape) {
    return torch.empty(shape, whole, ROW_MAJOR);
  }

  static org.bytedeco.pytorch.Tensor zeros(long... shape) {
    return torch.zeros(shape, numbers);
  }

  static org.bytedeco.pytorch.Tensor ones(long... shape) {
    return torch.ones(shape, numbers);
  }

  /** The numbers 0, 1, …, as many as there are. */
  static org.bytedeco.pytorch.Tensor counting(long count) {
    return torch.arange(new Scalar((double) count), numbers);
  }

  /** What the processor can read and write, wherever others lie. */
  static org.bytedeco.pytorch.Tensor onHost(boolean wholeNumbers, long... shape) {
    return torch.empty(shape, wholeNumbers ? HOST_WHOLE : HOST, ROW_MAJOR);
  }

  /** One of the host's where new tensors lie. */
  static org.bytedeco.pytorch.Tensor placed(org.bytedeco.pytorch.Tensor tensor) {
    return elsewhere ? tensor.to(numbers.device(), tensor.scalar_type()) : tensor;
  }
}
