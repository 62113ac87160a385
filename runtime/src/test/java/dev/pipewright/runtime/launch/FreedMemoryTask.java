package dev.pipewright.runtime.launch;

import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Transport;
import org.bytedeco.javacpp.Pointer;

/** Frees a large tensor and tells how many bytes more the process has than before it. */
public final class FreedMemoryTask implements WorkerTask {
  static final int ELEMENTS = 24 << 20;

  @Override
  public void run(String job, Transport transport, Reporter reporter) {
    Tensor.ones(1).close(); // loads the library
    long before = Pointer.physicalBytes();
    Tensor.ones(ELEMENTS).close();
    reporter.event(Long.toString(Pointer.physicalBytes() - before));
  }
}
