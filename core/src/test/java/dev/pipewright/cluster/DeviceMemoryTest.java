package dev.pipewright.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.units.Bytes;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class DeviceMemoryTest {
  private static final DeviceMemory DEVICE =
      new DeviceMemory(new Bytes(1000), new Bytes(30), new Bytes(70), OptionalDouble.empty());

  @Test
  void contextAndCommunicationBuffersAreNotForTensors() {
    assertEquals(new Bytes(900), DEVICE.process());
    assertEquals(new Bytes(900), DEVICE.plannable());
  }

  @Test
  void plansLeaveTheReserveOfWhatIsLeft() {
    assertEquals(new Bytes(810), DEVICE.withReserve(0.1).plannable());
    assertEquals(new Bytes(900), DEVICE.withReserve(0.1).process());
    assertEquals(new Bytes(900), DEVICE.withReserve(0).plannable());
  }

  @Test
  void wholeMemoryIsPlannedToTheLastByte() {
    Bytes all = new Bytes(Long.MAX_VALUE);
    assertEquals(all, DeviceMemory.whole(all).plannable());
    assertEquals(OptionalDouble.of(0), DeviceMemory.whole(all).reserve());
  }

  @Test
  void memoryThatIsAllTakenIsRefused() {
    Bytes ten = new Bytes(10);
    OptionalDouble none = OptionalDouble.empty();
    assertThrows(
        IllegalArgumentException.class, () -> new DeviceMemory(ten, ten, Bytes.ZERO, none));
    assertThrows(IllegalArgumentException.class, () -> DEVICE.withReserve(1));
    assertThrows(IllegalArgumentException.class, () -> DEVICE.withReserve(-0.1));
  }
}
