package dev.pipewright.bench.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.runtime.tensor.Torch;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A short run of what `Reproduce thread-convolutions` does with 20,000 shapes. */
class ConcurrentConvolutionsTest {
  @Test
  void threadsThatMeetNewConvolutionsAtOnceComputeWhatOneComputesAlone() throws Exception {
    Torch.start(1);
    assertEquals(List.of(), ConcurrentConvolutions.wrong(400, 3));
  }
}
