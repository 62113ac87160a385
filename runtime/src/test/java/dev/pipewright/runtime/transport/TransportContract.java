package dev.pipewright.runtime.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** What holds for every transport. Workers are threads here. */
abstract class TransportContract {
  /** A transport for each of so many workers, all of them connected. */
  abstract List<? extends Transport> connected(int workers);

  interface Work {
    void of(Transport transport) throws Exception;
  }

  /** Has all workers do the same, each in a thread. */
  void together(int workers, Work work) {
    List<? extends Transport> transports = connected(workers);
    List<Future<?>> futures = new ArrayList<>();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      for (Transport transport : transports) {
        futures.add(
            threads.submit(() -> {
              try (Scope scope = new Scope()) {
                work.of(transport);
              }
              return null;
            }));
      }
      for (Future<?> future : futures) {
        future.get();
      }
    } catch (InterruptedException | ExecutionException e) {
      throw new AssertionError(e);
    } finally {
      transports.forEach(Transport::close);
    }
  }

  /** Numbers that differ between workers, tags and places. */
  static float[] numbers(int worker, int tag, int size) {
    float[] numbers = new float[size];
    for (int i = 0; i < size; i++) {
      numbers[i] = worker * 1000 + tag * 10 + i % 7;
    }
    return numbers;
  }

  static Tensor tensor(int worker, int tag, int size) {
    return Tensor.of(numbers(worker, tag, size), size);
  }

  @Test
  void workersKnowTheirNumbers() {
    List<? extends Transport> transports = connected(3);
    for (int worker = 0; worker < 3; worker++) {
      assertEquals(worker, transports.get(worker).worker());
      assertEquals(3, transports.get(worker).workers());
      transports.get(worker).close();
    }
  }

  @Test
  void messagesArriveByTagInWhateverOrderTheyAreSent() {
    together(
        2,
        me -> {
          int other = 1 - me.worker();
          Tensor[] got = {Tensor.empty(5), Tensor.empty(1 << 18), Tensor.empty(3)};
          List<Pending> pending = new ArrayList<>();
          for (int tag = 0; tag < 3; tag++) {
            pending.add(me.receive(got[tag], other, tag));
          }
          for (int tag : new int[] {2, 0, 1}) {
            pending.add(me.send(tensor(me.worker(), tag, (int) got[tag].elements()), other, tag));
          }
          pending.forEach(Pending::await);
          for (int tag = 0; tag < 3; tag++) {
            assertArrayEquals(numbers(other, tag, (int) got[tag].elements()), got[tag].toFloats());
          }
        });
  }

  @Test
  void aMessageMayBeSentBeforeItIsAskedFor() {
    together(
        2,
        me -> {
          if (me.worker() == 0) {
            me.send(tensor(0, 4, 9), 1, 4).await();
          } else {
            Thread.sleep(50);
            Tensor got = Tensor.empty(9);
            me.receive(got, 0, 4).await();
            assertArrayEquals(numbers(0, 4, 9), got.toFloats());
          }
        });
  }

  @Test
  void aMessageMayBeAskedForBeforeThoseThatWereSentFirst() {
    together(
        2,
        me -> {
          int[] sizes = {1 << 20, 5, 1 << 16};
          if (me.worker() == 0) {
            List<Pending> pending = new ArrayList<>();
            for (int tag = 0; tag < 3; tag++) {
              pending.add(me.send(tensor(0, tag, sizes[tag]), 1, tag));
            }
            pending.forEach(Pending::await);
          } else {
            for (int tag : new int[] {2, 0, 1}) {
              Tensor got = Tensor.empty(sizes[tag]);
              me.receive(got, 0, tag).await();
              assertArrayEquals(numbers(0, tag, sizes[tag]), got.toFloats());
            }
          }
        });
  }

  /** More than connections hold: neither worker may wait for the other to read. */
  @Test
  void allMaySendMuchBeforeAnybodyAsksForIt() {
    int size = 1 << 22;
    together(
        3,
        me -> {
          List<Pending> pending = new ArrayList<>();
          for (int other = 0; other < 3; other++) {
            if (other != me.worker()) {
              pending.add(me.send(tensor(me.worker(), other, size), other, 0));
              pending.add(me.send(tensor(me.worker(), other + 3, 3), other, 1));
            }
          }
          for (int other = 0; other < 3; other++) {
            if (other != me.worker()) {
              Tensor small = Tensor.empty(3);
              me.receive(small, other, 1).await();
              assertArrayEquals(numbers(other, me.worker() + 3, 3), small.toFloats());
              Tensor large = Tensor.empty(size);
              me.receive(large, other, 0).await();
              assertArrayEquals(numbers(other, me.worker(), size), large.toFloats());
            }
          }
          pending.forEach(Pending::await);
        });
  }

  @Test
  void nothingMayBeSentToo() {
    together(
        2,
        me -> {
          Pending sending = me.send(Tensor.empty(0), 1 - me.worker(), 0);
          me.receive(Tensor.empty(0), 1 - me.worker(), 0).await();
          sending.await();
        });
  }

  @Test
  void aWorkerMaySendToItself() {
    together(
        2,
        me -> {
          Tensor got = Tensor.empty(9);
          Pending receiving = me.receive(got, me.worker(), 4);
          me.send(tensor(me.worker(), 4, 9), me.worker(), 4).await();
          receiving.await();
          assertArrayEquals(numbers(me.worker(), 4, 9), got.toFloats());
        });
  }

  @Test
  void manyMessagesMayBeUnderWay() {
    together(
        3,
        me -> {
          List<Pending> pending = new ArrayList<>();
          List<Tensor> got = new ArrayList<>();
          for (int tag = 0; tag < 200; tag++) {
            for (int other = 0; other < 3; other++) {
              if (other != me.worker()) {
                got.add(Tensor.empty(17));
                pending.add(me.receive(got.get(got.size() - 1), other, tag));
                pending.add(me.send(tensor(me.worker(), tag, 17), other, tag));
              }
            }
          }
          pending.forEach(Pending::await);
          int next = 0;
          for (int tag = 0; tag < 200; tag++) {
            for (int other = 0; other < 3; other++) {
              if (other != me.worker()) {
                assertArrayEquals(numbers(other, tag, 17), got.get(next++).toFloats());
              }
            }
          }
        });
  }

  @Test
  void wholeNumbersArriveWhole() {
    together(
        2,
        me -> {
          long[] large = {1L << 40, -3, Long.MAX_VALUE};
          Tensor got = Tensor.emptyWhole(3);
          Pending receiving = me.receive(got, 1 - me.worker(), 0);
          me.send(Tensor.ofWhole(large, 3), 1 - me.worker(), 0).await();
          receiving.await();
          assertArrayEquals(large, got.toWhole());
          Tensor sum = Tensor.ofWhole(new long[] {1L << 40, me.worker()}, 2);
          me.group("all", List.of(0, 1)).sum(sum).await();
          assertArrayEquals(new long[] {1L << 41, 1}, sum.toWhole());
        });
  }

  @Test
  void anAwaitedMessageIsDoneAndMayBeAwaitedAgain() {
    together(
        2,
        me -> {
          Tensor got = Tensor.empty(2);
          Pending receiving = me.receive(got, 1 - me.worker(), 0);
          Pending sending = me.send(tensor(me.worker(), 0, 2), 1 - me.worker(), 0);
          sending.await();
          receiving.await();
          assertTrue(receiving.done() && sending.done());
          receiving.await();
        });
  }

  @RepeatedTest(8)
  void collectiveOperationsGiveWhatTheyShould(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int workers = random.nextInt(1, 5);
    int size = random.nextInt(1, 3000); // no multiple of anything
    int root = random.nextInt(workers);
    List<Integer> all = IntStream.range(0, workers).boxed().toList();
    together(
        workers,
        me -> {
          Group group = me.group("all", all);
          assertEquals(workers, group.size());
          float[] total = new float[size];
          for (int worker = 0; worker < workers; worker++) {
            float[] part = numbers(worker, 1, size);
            for (int i = 0; i < size; i++) {
              total[i] += part[i];
            }
          }
          Tensor sum = tensor(me.worker(), 1, size);
          Tensor communication = tensor(me.worker(), 2, size);
          Tensor gathered = Tensor.empty(workers, size);
          Tensor part = Tensor.empty(size);
          Tensor many = tensor(me.worker(), 4, size * workers);
          List<Pending> pending = // all of them under way
              List.of(
                  group.sum(sum),
                  group.broadcast(communication, root),
                  group.gather(tensor(me.worker(), 3, size), gathered),
                  group.sumParts(many, part));
          pending.forEach(Pending::await);
          assertArrayEquals(total, sum.toFloats());
          assertArrayEquals(numbers(root, 2, size), communication.toFloats());
          float[] rows = gathered.toFloats();
          for (int worker = 0; worker < workers; worker++) {
            assertArrayEquals(
                numbers(worker, 3, size),
                Arrays.copyOfRange(rows, worker * size, (worker + 1) * size));
          }
          float[] expected = new float[size];
          for (int worker = 0; worker < workers; worker++) {
            float[] whole = numbers(worker, 4, size * workers);
            for (int i = 0; i < size; i++) {
              expected[i] += whole[me.worker() * size + i];
            }
          }
          assertArrayEquals(expected, part.toFloats());
        });
  }

  /** Also that two exchanges may be under way, and that some members hand each other nothing. */
  @RepeatedTest(6)
  void membersExchangeTensorsOfAnySize(RepetitionInfo seed) {
    int workers = seed.getCurrentRepetition() % 4 + 1;
    together(
        workers,
        me -> {
          Group group = me.group("all", IntStream.range(0, workers).boxed().toList());
          List<Pending> pending = new ArrayList<>();
          List<List<Tensor>> got = new ArrayList<>();
          for (int round = 0; round < 2; round++) {
            List<Tensor> to = new ArrayList<>();
            List<Tensor> from = new ArrayList<>();
            for (int other = 0; other < workers; other++) {
              int sent = exchanged(seed, round, me.worker(), other);
              to.add(sent == 0 ? Tensor.empty(0) : tensor(me.worker(), other + 10 * round, sent));
              from.add(Tensor.zeros(exchanged(seed, round, other, me.worker())));
            }
            got.add(from);
            pending.add(group.exchange(to, from));
          }
          pending.forEach(Pending::await);
          for (int round = 0; round < 2; round++) {
            for (int other = 0; other < workers; other++) {
              Tensor given = got.get(round).get(other);
              int count = (int) given.elements();
              if (other == me.worker()) {
                assertTrue(given.sameAs(Tensor.zeros(count))); // nothing was handed over
              } else if (count > 0) {
                float[] sent = numbers(other, me.worker() + 10 * round, count);
                assertArrayEquals(sent, given.toFloats());
              }
            }
          }
        });
  }

  /** Numbers that one member hands another. */
  private static int exchanged(RepetitionInfo seed, int round, int from, int to) {
    long key = ((seed.getCurrentRepetition() * 2L + round) * 5 + from) * 5 + to;
    SplittableRandom random = new SplittableRandom(key);
    return random.nextInt(3) == 0 ? 0 : random.nextInt(1, 3000);
  }

  @Test
  void groupsOfTheSameMembersAreApartByName() {
    together(
        2,
        me -> {
          Group first = me.group("first", List.of(0, 1));
          Group second = me.group("second", List.of(0, 1));
          Tensor a = Tensor.of(new float[] {1}, 1);
          Tensor b = Tensor.of(new float[] {10}, 1);
          List<Pending> pending = new ArrayList<>(); // each worker begins with another one
          pending.add(me.worker() == 0 ? first.sum(a) : second.sum(b));
          pending.add(me.worker() == 0 ? second.sum(b) : first.sum(a));
          pending.forEach(Pending::await);
          assertEquals(2, a.item());
          assertEquals(20, b.item());
        });
  }

  @Test
  void groupsMayOverlapAndLeaveWorkersOut() {
    together(
        4,
        me -> {
          for (List<Integer> members : List.of(List.of(0, 2), List.of(1, 2, 3), List.of(3))) {
            if (members.contains(me.worker())) {
              Tensor tensor = Tensor.of(new float[] {1 << me.worker()}, 1);
              me.group("group " + members, members).sum(tensor).await();
              assertEquals(members.stream().mapToInt(i -> 1 << i).sum(), tensor.item());
            }
          }
        });
  }
}
