package dev.pipewright.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import dev.pipewright.units.Precision;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class ClusterTest {
  private static final DeviceKind KIND = kind("k");

  private static DeviceKind kind(String name) {
    return new DeviceKind(
        name, new Bytes(1), new FlopsPerSecond(1), new FlopsPerSecond(4), new BytesPerSecond(1));
  }

  private static List<Level> levels(int count) {
    return IntStream.range(0, count)
        .mapToObj(l -> new Level("level" + l, Link.of(l, 1), Link.of(l, 2)))
        .toList();
  }

  private static Cluster of(int devices, List<List<Integer>> groups) {
    var kinds = Collections.nCopies(devices, KIND);
    return new Cluster("c", kinds, levels(groups.size()), groups);
  }

  private static String refusal(int devices, List<List<Integer>> groups) {
    return String.valueOf(
        assertThrows(IllegalArgumentException.class, () -> of(devices, groups)).getMessage());
  }

  @Test
  void devicesAreNumberedMachineByMachine() {
    Cluster cluster = Cluster.uniform("c", KIND, levels(3), 2, 3, 2);
    assertEquals(12, cluster.size());
    assertEquals(6, cluster.machines());
    assertEquals(1, cluster.machine(3));
    assertEquals(0, cluster.group(1, 5));
    assertEquals(1, cluster.group(1, 6));
    assertEquals(0, cluster.group(2, 11));
    assertEquals(List.of(6, 6), cluster.groups().get(1));
    assertEquals("c (12 devices)", cluster.toString());
  }

  @Test
  void theLevelThatJoinsTwoDevicesIsTheInnermost() {
    Cluster cluster = Cluster.uniform("c", KIND, levels(3), 2, 3, 2);
    assertEquals(0, cluster.levelJoining(0, 0));
    assertEquals(0, cluster.levelJoining(0, 1));
    assertEquals(1, cluster.levelJoining(1, 2));
    assertEquals(1, cluster.levelJoining(0, 5));
    assertEquals(2, cluster.levelJoining(6, 5));
  }

  @Test
  void groupsMayDifferInSize() {
    Cluster cluster = of(6, List.of(List.of(1, 2, 3), List.of(3, 3), List.of(6)));
    assertEquals(List.of(0, 1, 1, 2, 2, 2), machines(cluster));
    assertEquals(1, cluster.levelJoining(0, 2));
    assertEquals(2, cluster.levelJoining(2, 3));
    assertEquals(cluster, of(6, List.of(List.of(1, 2, 3), List.of(3, 3), List.of(6))));
    assertFalse(cluster.equals(of(6, List.of(List.of(2, 1, 3), List.of(3, 3), List.of(6)))));
  }

  private static List<Integer> machines(Cluster cluster) {
    return IntStream.range(0, cluster.size()).mapToObj(cluster::machine).toList();
  }

  @Test
  void groupsThatDoNotFitAreRefused() {
    assertTrue(refusal(4, List.of(List.of(2, 1), List.of(4))).contains("level=0, members=3"));
    assertTrue(refusal(4, List.of(List.of(2, 3), List.of(4))).contains("level=0, members=5"));
    assertTrue(refusal(4, List.of(List.of(4, 0), List.of(4))).contains("group=1"));
    assertTrue(refusal(4, List.of(List.of(2, 2))).contains("outermost level must be one group"));
    assertEquals(
        "groups must nest: device=1, level=1 splits a group of level 0",
        refusal(4, List.of(List.of(2, 2), List.of(1, 3), List.of(4))));
  }

  @Test
  void emptyClustersAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> of(0, List.of(List.of(), List.of(0))));
    assertThrows(IllegalArgumentException.class, () -> of(1, List.of()));
    assertThrows(IllegalArgumentException.class, () -> Cluster.uniform("c", KIND, levels(2), 2));
    assertThrows(IllegalArgumentException.class, () -> Cluster.uniform("c", KIND, levels(2), 2, 0));
  }

  @Test
  void devicesOfOneKindAreHomogeneous() {
    assertTrue(Cluster.uniform("c", KIND, levels(1), 2).homogeneous());
    var mixed = new Cluster("c", List.of(KIND, kind("o")), levels(1), List.of(List.of(2)));
    assertFalse(mixed.homogeneous());
  }

  @Test
  void aMessageTakesLatencyAndItsShareOfTheBandwidth() {
    assertEquals(3.5, Link.of(1, 4).seconds(10));
    assertEquals(4, KIND.peak(Precision.BF16).value());
    assertEquals(1, KIND.peak(Precision.FP32).value());
  }

  @Test
  void theLeastAndTheMostMemoryAreThoseOfSomeDevice() {
    List<DeviceKind> kinds =
        List.of(KIND.withMemory(new Bytes(5)), KIND, KIND.withMemory(new Bytes(3)));
    Cluster mixed = new Cluster("c", kinds, levels(1), List.of(List.of(3)));
    assertEquals(new Bytes(1), mixed.leastMemory());
    assertEquals(new Bytes(5), mixed.mostMemory());
  }

  /** Any two devices are joined by the same level as before, and kinds stay. */
  @RepeatedTest(50)
  void someDevicesKeepTheirKindsAndLinks(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    List<List<Integer>> groups = List.of(List.of(1, 3, 2, 2), List.of(4, 4), List.of(8));
    List<DeviceKind> kinds = IntStream.range(0, 8).mapToObj(i -> kind("k" + i)).toList();
    Cluster whole = new Cluster("whole", kinds, levels(3), groups);
    List<Integer> some =
        IntStream.range(0, 8)
            .filter(device -> random.nextInt(3) > 0 || device == 5)
            .boxed()
            .toList();
    Cluster part = whole.only(some);
    assertEquals(some.size(), part.size());
    for (int a = 0; a < some.size(); a++) {
      assertEquals(whole.device(some.get(a)), part.device(a));
      for (int b = a + 1; b < some.size(); b++) {
        assertEquals(whole.levelJoining(some.get(a), some.get(b)), part.levelJoining(a, b));
      }
    }
  }

  @Test
  void devicesOfAPartAscend() {
    Cluster whole = of(4, List.of(List.of(2, 2), List.of(4)));
    assertThrows(IllegalArgumentException.class, () -> whole.only(List.of(2, 1)));
    assertThrows(IllegalArgumentException.class, () -> whole.only(List.of(1, 4)));
    assertThrows(IllegalArgumentException.class, () -> whole.only(List.of(-1, 2)));
    assertEquals(whole, whole.only(List.of(0, 1, 2, 3)));
  }
}
