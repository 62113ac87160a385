package dev.pipewright.runtime.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.model.Operator;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Torch;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What the members of a team tell each other in a step, in bytes, against ParaDL's formulas (Table
 * 3): of an all-gather of m bytes all members together hand on (p − 1) · m, each m · (p − 1) / p;
 * an all-reduce is of m bytes.
 */
class ParallelismVolumesTest {
  private static final int SAMPLES = 3; // B
  private static final int BYTES = 4; // δ
  private static final int FIRST = 6; // filters
  private static final int SECOND = 8;
  private static final int LAST = 5; // scores
  private static final int PLACES = 6 * 7;

  @BeforeAll
  static void start() {
    Torch.start(1);
  }

  /** Bytes of a tensor of so many elements a sample. */
  private static long bytes(long elements) {
    return SAMPLES * elements * BYTES;
  }

  /** Two convolutions and a classifier. */
  private static Members network() {
    Drawing net = new Drawing(List.of(3, 6, 7));
    int last = net.windows(0, Drawing.convolution(3, FIRST, 3, 1, 1));
    last = net.windows(last, Drawing.convolution(FIRST, SECOND, 3, 1, 1));
    net.linear(last, LAST);
    return net.members(SAMPLES, false).withoutInputGradient();
  }

  private record Volume(long summed, long handed) {}

  private static Volume of(Members members, Parallelism split) {
    List<CountingTransport> counted = Collections.synchronizedList(new ArrayList<>());
    try (Scope scope = new Scope()) {
      members.together(
          split,
          transport -> {
            CountingTransport counting = new CountingTransport(transport);
            counted.add(counting);
            return counting;
          });
    }
    long summed = counted.get(0).summed().get();
    counted.forEach(each -> assertEquals(summed, each.summed().get()));
    return new Volume(summed, counted.stream().mapToLong(each -> each.handed().get()).sum());
  }

  /** y is gathered forward, dL/dx summed backward, but for the first layer's. */
  @Test
  void filters() {
    for (int parts : new int[] {2, 3}) {
      Volume volume = of(network(), Parallelism.of(Kind.FILTER, parts));
      long gathered = bytes((FIRST + SECOND) * PLACES + LAST);
      assertEquals((parts - 1) * gathered, volume.handed());
      assertEquals(bytes((FIRST + SECOND) * PLACES), volume.summed());
    }
  }

  /** y is summed forward, dL/dx gathered backward; the first layer is whole. */
  @Test
  void channels() {
    for (int parts : new int[] {2, 3}) {
      Volume volume = of(network(), Parallelism.of(Kind.CHANNEL, parts));
      assertEquals((parts - 1) * bytes((FIRST + SECOND) * PLACES), volume.handed());
      assertEquals(bytes(SECOND * PLACES + LAST), volume.summed());
    }
  }

  /**
   * Half a kernel from each neighbour at each cut, and of the gradients as much back; the last map
   * is gathered. The input is whole on all members, but each borrows of its part of it.
   */
  @Test
  void places() {
    for (int parts : new int[] {2, 3}) {
      Volume volume = of(network(), new Parallelism(Kind.SPATIAL, List.of(parts, 1)));
      long halo = 2L * (parts - 1) * bytes(7); // rows of seven places, for each channel
      long forward = halo * (3 + FIRST);
      long backward = halo * FIRST;
      long gathered = (parts - 1) * bytes(SECOND * PLACES);
      assertEquals(forward + backward + gathered, volume.handed());
      assertEquals(0, volume.summed());
    }
  }

  /** Two all-reduces forward and two backward for each block (Megatron-LM, §3), of s · b · h. */
  @Test
  void blocks() {
    Volume volume = of(block(Kind.TENSOR), Parallelism.of(Kind.TENSOR, 2));
    assertEquals(new Volume(4 * bytes(8 * 12), 0), volume);
  }

  /** As much: an all-reduce is a sum of parts and a gathering; and the ends of what is cut. */
  @Test
  void blocksAndSteps() {
    Volume volume = of(block(Kind.SEQUENCE), Parallelism.of(Kind.SEQUENCE, 2));
    long inside = 4 * 2 * bytes(8 * 12);
    long ends = 2 * bytes(8 * 12); // the block's output, and the gradient of what it reads
    assertEquals(new Volume(0, inside + ends), volume);
  }

  /**
   * Keys and values are gathered, and their gradients go back (Llama 3, §3.3.2); the gradient of
   * what the block reads is put together. Its output stays apart.
   */
  @Test
  void tokensOfBlocks() {
    Volume volume = of(block(Kind.CONTEXT), Parallelism.of(Kind.CONTEXT, 2));
    assertEquals(new Volume(0, 2 * bytes(8 * 2 * 12) + bytes(8 * 12)), volume);
  }

  private static Members block(Kind kind) {
    Drawing net = new Drawing(List.of(8, 12));
    Operator block = new Operator.TransformerBlock(12, 2, 8, kind == Kind.TENSOR, true);
    net.same(0, block);
    return net.members(SAMPLES, false);
  }
}
