package dev.pipewright.runtime.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.wire.Credentials;
import dev.pipewright.runtime.wire.Secret;
import java.io.IOException;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bytedeco.javacpp.Pointer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TcpTransportTest extends TransportContract {
  private static final String HERE = "127.0.0.1";

  @Override
  List<? extends Transport> connected(int workers) {
    return connected(workers, address -> address);
  }

  /** Whether frames are encrypted and authenticated. */
  boolean sealed() {
    return false;
  }

  /** What all workers prove. */
  Credentials credentials() {
    return Credentials.of(Secret.random());
  }

  /**
   * Workers that are threads here.
   *
   * @param relay what another worker takes for the address of worker 0
   */
  List<TcpTransport> connected(int workers, UnaryOperator<String> relay) {
    List<Entrance> entrances = entrances(workers);
    List<String> addresses = new ArrayList<>();
    entrances.forEach(entrance -> addresses.add(entrance.address()));
    addresses.set(0, relay.apply(addresses.get(0)));
    return connected(entrances, addresses);
  }

  private List<Entrance> entrances(int workers) {
    Credentials credentials = credentials();
    return IntStream.range(0, workers)
        .mapToObj(i -> Entrance.open(HERE, sealed(), credentials))
        .toList();
  }

  private static List<TcpTransport> connected(List<Entrance> entrances, List<String> addresses) {
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      return IntStream.range(0, entrances.size())
          .mapToObj(worker ->
              CompletableFuture.supplyAsync(
                  () -> new TcpTransport(entrances.get(worker), addresses, worker), threads))
          .toList()
          .stream()
          .map(CompletableFuture::join)
          .toList();
    }
  }

  @Test
  void aMessageOutlivesTheScopeThatItWasSentIn() {
    together(
        2,
        me -> {
          int other = 1 - me.worker();
          Tensor got = Tensor.empty(1 << 16);
          Pending receiving = me.receive(got, other, 0);
          Pending sending;
          try (Scope scope = new Scope()) {
            sending = me.send(tensor(me.worker(), 0, 1 << 16), other, 0);
          }
          try (Scope scope = new Scope()) {
            Tensor.zeros(1 << 16); // would reuse the memory if it had been freed
          }
          sending.await();
          receiving.await();
          assertArrayEquals(numbers(other, 0, 1 << 16), got.toFloats());
        });
  }

  @Test
  void whoeverWaitsForAWorkerThatLeavesIsTold() {
    List<? extends Transport> both = connected(2);
    try (Scope scope = new Scope()) {
      Pending receiving = both.get(0).receive(Tensor.empty(3), 1, 0);
      both.get(1).close();
      LostPeerException lost = assertThrows(LostPeerException.class, receiving::await);
      assertEquals(
          "receiving from worker 1 failed: a worker has stopped or is out of reach",
          lost.getMessage());
    }
    both.get(0).close();
  }

  @Test
  void whoeverSendsToAWorkerThatHasLeftIsTold() {
    List<? extends Transport> both = connected(2);
    both.get(1).close();
    try (Scope scope = new Scope()) {
      Tensor large = Tensor.zeros(1 << 22); // more than a connection takes
      LostPeerException lost =
          assertThrows(LostPeerException.class, () -> both.get(0).send(large, 1, 0).await());
      assertEquals(
          "sending to worker 1 failed: a worker has stopped or is out of reach", lost.getMessage());
    }
    both.get(0).close();
  }

  @Test
  void aMessageOfAnotherSizeIsRefused() {
    List<? extends Transport> both = connected(2);
    try (Scope scope = new Scope()) {
      Pending receiving = both.get(0).receive(Tensor.empty(3), 1, 0);
      both.get(1).send(Tensor.zeros(4), 0, 0).await();
      LostPeerException lost = assertThrows(LostPeerException.class, receiving::await);
      assertTrue(
          String.valueOf(lost.getCause()).endsWith("worker 1 sends 16 bytes where 12 are awaited"),
          () -> String.valueOf(lost.getCause()));
    }
    both.forEach(Transport::close);
  }

  /** A worker that is a step ahead uses the tags of that step again. */
  @Test
  void messagesOfTheSameTagArriveInTheirOrder() {
    together(
        2,
        me -> {
          int other = 1 - me.worker();
          List<Pending> pending = new ArrayList<>();
          for (int round = 0; round < 5; round++) {
            pending.add(me.send(tensor(me.worker(), round, 7), other, 3));
            Tensor got = Tensor.empty(7);
            me.receive(got, other, 3).await();
            assertArrayEquals(numbers(other, round, 7), got.toFloats());
          }
          pending.forEach(Pending::await);
        });
  }

  /**
   * What is set aside for them does not wait for the garbage collector. The process may grow by as
   * much as Java has reserved for its heap, which it comes to use by and by.
   */
  @Test
  void messagesThatComeEarlyLeaveNoMemoryBehind() {
    int rounds = 128;
    int elements = 1 << 20;
    comeEarly(16, elements); // for what Java and the C library keep for themselves
    long before = Pointer.physicalBytes();
    comeEarly(rounds, elements);
    long grown = Pointer.physicalBytes() - before;
    long heap = Runtime.getRuntime().totalMemory();
    long received = 2L * rounds * 4 * elements; // by two workers, in bytes
    assertTrue(
        grown < heap + received / 4,
        () -> grown + " of " + received + " bytes, beside a heap of " + heap);
  }

  private void comeEarly(int rounds, int elements) {
    together(
        2,
        me -> {
          int other = 1 - me.worker();
          for (int round = 0; round < rounds; round++) {
            try (Scope scope = new Scope()) {
              Pending early = me.send(Tensor.ones(elements), other, 0);
              Pending late = me.send(Tensor.ones(1), other, 1);
              me.receive(Tensor.empty(1), other, 1).await();
              Tensor got = Tensor.empty(elements);
              me.receive(got, other, 0).await();
              early.await();
              late.await();
            }
          }
        });
  }

  /** Others that find the port are none of the workers, and keep none of them waiting. */
  @Test
  void strangersAtTheEntrancesStallNoStart() throws Exception {
    List<Entrance> entrances = entrances(3);
    List<Socket> strangers = new ArrayList<>();
    for (Entrance entrance : entrances) {
      for (int i = 0; i < 5; i++) {
        Socket stranger = new Socket();
        stranger.connect(Entrance.parse(entrance.address()));
        strangers.add(stranger);
      }
      strangers.getLast().getOutputStream().write(new byte[100]); // of worker 0, without the secret
    }
    List<TcpTransport> all =
        connected(entrances, entrances.stream().map(Entrance::address).toList());
    try (Scope scope = new Scope()) {
      Tensor got = Tensor.empty(5);
      Pending receiving = all.get(0).receive(got, 1, 1);
      all.get(1).send(tensor(1, 1, 5), 0, 1).await();
      receiving.await();
      assertArrayEquals(numbers(1, 1, 5), got.toFloats());
    }
    all.forEach(Transport::close);
    for (Socket stranger : strangers) {
      stranger.close();
    }
  }

  @Test
  void noPortIsOpenOnceAllAreConnected() throws Exception {
    List<String> addresses = new ArrayList<>();
    List<TcpTransport> both =
        connected(
            2,
            address -> {
              addresses.add(address);
              return address;
            });
    assertThrows(IOException.class, () -> new Socket().connect(Entrance.parse(addresses.get(0))));
    both.forEach(Transport::close);
  }

  /** Large ones are cut into segments, of which each member adds up a part. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void sumsOfAnySizeHaveTheBitsOfThoseInTheOrderOfTheMembers(int workers) {
    List<Integer> all = IntStream.range(0, workers).boxed().toList();
    for (int size : new int[] {1, 1000, (1 << 20) - 1, (1 << 21) + 12_345}) {
      float[] expected = fractions(0, size);
      for (int worker = 1; worker < workers; worker++) {
        float[] term = fractions(worker, size);
        for (int i = 0; i < size; i++) {
          expected[i] += term[i];
        }
      }
      together(
          workers,
          me -> {
            Group group = me.group("all", all);
            Tensor first = Tensor.of(fractions(me.worker(), size), size);
            Tensor second = Tensor.of(fractions(me.worker(), size), size);
            List<Pending> both = List.of(group.sum(first), group.sum(second));
            both.forEach(Pending::await);
            assertArrayEquals(expected, first.toFloats());
            assertArrayEquals(expected, second.toFloats());
          });
    }
  }

  private static float[] fractions(int worker, int size) {
    SplittableRandom random = new SplittableRandom(31L * worker + size);
    float[] numbers = new float[size];
    for (int i = 0; i < size; i++) {
      numbers[i] = (float) (random.nextDouble() - 0.5);
    }
    return numbers;
  }

  /** Bytes travel as they lie in memory, so both ends would take them for other numbers. */
  @Test
  void aTensorThatIsNotPackedIsRefused() {
    List<? extends Transport> both = connected(2);
    try (Scope scope = new Scope()) {
      Tensor turned = Tensor.zeros(2, 3).transposed(0, 1);
      assertThrows(IllegalArgumentException.class, () -> both.get(0).send(turned, 1, 0));
      Tensor gaps = Tensor.zeros(2, 3).part(1, 0, 2);
      assertThrows(IllegalArgumentException.class, () -> both.get(0).send(gaps, 1, 0));
    }
    Stream.of(0, 1).forEach(worker -> both.get(worker).close());
  }

  @Test
  void aPackedMapArrivesAsItIs() {
    List<? extends Transport> both = connected(2);
    try (Scope scope = new Scope()) {
      float[] numbers = new float[2 * 3 * 4 * 5];
      for (int i = 0; i < numbers.length; i++) {
        numbers[i] = i;
      }
      Tensor room = Tensor.emptyPacked(2, 3, 4, 5);
      Pending comes = both.get(1).receive(room, 0, 7);
      Pending goes = both.get(0).send(Tensor.of(numbers, 2, 3, 4, 5).packed(), 1, 7);
      goes.await();
      comes.await();
      assertArrayEquals(numbers, room.toFloats());
    }
    Stream.of(0, 1).forEach(worker -> both.get(worker).close());
  }
}
