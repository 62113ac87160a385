package dev.pipewright.runtime.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.BadInputException;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bytedeco.javacpp.Pointer;
import org.junit.jupiter.api.Test;

class TcpTransportTest extends TransportContract {
  private static final String HERE = "127.0.0.1";

  @Override
  List<? extends Transport> connected(int workers) {
    AddressBook book = AddressBook.open(HERE, 0);
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<CompletableFuture<TcpTransport>> transports =
          IntStream.range(0, workers)
              .mapToObj(worker ->
                  CompletableFuture.supplyAsync(() -> connect(book, worker, workers), threads))
              .toList();
      return transports.stream().map(CompletableFuture::join).toList();
    }
  }

  private static TcpTransport connect(AddressBook book, int worker, int workers) {
    return new TcpTransport(
        worker == 0 ? book : AddressBook.at(HERE, book.port()), HERE, worker, workers);
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

  /** What is set aside for them does not wait for the garbage collector. */
  @Test
  void messagesThatComeEarlyLeaveNoMemoryBehind() {
    int rounds = 64;
    int elements = 1 << 20;
    long before = Pointer.physicalBytes();
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
    long left = Pointer.physicalBytes() - before;
    assertTrue(left < 4L * elements * rounds / 2, left + " bytes");
  }

  /** Others that find the port are none of the workers, whatever they say. */
  @Test
  void strangersAreSentAway() throws Exception {
    try (AddressBook book = AddressBook.open(HERE, 0);
        AddressBook other = AddressBook.at(HERE, book.port());
        ExecutorService threads = Executors.newCachedThreadPool()) {
      Future<Messages> first = threads.submit(() -> Messages.connected(book, HERE, 0, 2));
      int port = Integer.parseInt(other.ask("messages/0").split(" ", -1)[1]);
      try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), port);
          Socket loud = new Socket(InetAddress.getLoopbackAddress(), port)) {
        silent.shutdownOutput();
        loud.getOutputStream().write(new byte[20]); // of worker 0, without the secret
        try (Messages second = Messages.connected(other, HERE, 1, 2);
            Messages zeroth = first.get();
            Scope scope = new Scope()) {
          Tensor got = Tensor.empty(5);
          Pending receiving = zeroth.receive(new MessageName(0, 1), got, 1);
          second.send(new MessageName(0, 1), tensor(1, 1, 5), 0).await();
          receiving.await();
          assertArrayEquals(numbers(1, 1, 5), got.toFloats());
          assertEquals(-1, loud.getInputStream().read());
        }
      }
    }
  }

  @Test
  void aPortInUseIsNamed() {
    try (AddressBook book = AddressBook.open(HERE, 0)) {
      BadInputException mistake =
          assertThrows(BadInputException.class, () -> AddressBook.open(HERE, book.port()));
      assertEquals(
          "port "
              + book.port()
              + " is in use on this machine; name another one, or none for any free one",
          mistake.getMessage());
    }
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
