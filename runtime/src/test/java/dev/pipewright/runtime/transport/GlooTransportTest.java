package dev.pipewright.runtime.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.BadInputException;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class GlooTransportTest extends TransportContract {
  private static final String HERE = "127.0.0.1";

  @Override
  List<? extends Transport> connected(int workers) {
    AddressBook book = AddressBook.open(HERE, 0);
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<CompletableFuture<GlooTransport>> transports =
          IntStream.range(0, workers)
              .mapToObj(worker ->
                  CompletableFuture.supplyAsync(() -> connect(book, worker, workers), threads))
              .toList();
      return transports.stream().map(CompletableFuture::join).toList();
    }
  }

  private static GlooTransport connect(AddressBook book, int worker, int workers) {
    return new GlooTransport(
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
      String cause = String.valueOf(lost.getCause());
      assertTrue( // whichever the system notices first
          cause.contains("Connection closed by peer") || cause.contains("Connection reset by peer"),
          cause);
    }
    both.get(0).close();
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
