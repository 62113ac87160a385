package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Workers that are threads of one process. Messages are copies in memory; sums are taken in the
 * order of the workers, so that they are the same every time.
 */
public final class LocalTransport implements Transport {
  private final Room room;
  private final int worker;

  private LocalTransport(Room room, int worker) {
    this.room = room;
    this.worker = worker;
  }

  /** A transport for each of so many workers. */
  public static List<LocalTransport> of(int workers) {
    Room room = new Room(workers);
    return IntStream.range(0, workers).mapToObj(i -> new LocalTransport(room, i)).toList();
  }

  /** A message that two meet for. */
  private record Letter(int from, int to, int tag) {}

  /** A collective operation of a group. */
  private record Collective(String group, long number) {}

  /** What one member of a group hands another in an operation. */
  private record Handing(String group, long number, int from, int to) {}

  /** What all workers share; guarded by itself. */
  private static final class Room {
    private final int workers;
    private final Map<Record, Meeting> meetings = new HashMap<>(); // that a member waits at
    private @Nullable Throwable failure;

    private Room(int workers) {
      this.workers = workers;
    }
  }

  /** Something that happens when all who take part are there. */
  private static final class Meeting implements Pending {
    private final Room room;
    private final Tensor[] brought;
    private final Tensor[] taken;
    private int missing;
    private boolean done;

    private Meeting(Room room, int size) {
      this.room = room;
      this.brought = new Tensor[size];
      this.taken = new Tensor[size];
      this.missing = size;
    }

    @Override
    public boolean done() {
      synchronized (room) {
        return done;
      }
    }

    @Override
    public void await() {
      synchronized (room) {
        while (!done) {
          if (room.failure != null) {
            throw new LostPeerException("another worker has stopped", room.failure);
          }
          try {
            room.wait();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LostPeerException("interrupted while waiting for another worker", e);
          }
        }
      }
    }
  }

  /** What the last one to come does with what all have brought. */
  private interface Together {
    void happen(Tensor[] brought, Tensor[] taken);
  }

  private static void join(
      Meeting meeting, int place, Tensor brought, Tensor taken, Together together) {
    meeting.brought[place] = brought.shared(); // its maker may end its scope before the others come
    meeting.taken[place] = taken.shared();
    if (--meeting.missing == 0) {
      try (Scope scope = new Scope()) {
        together.happen(meeting.brought, meeting.taken);
      }
      for (int i = 0; i < meeting.brought.length; i++) {
        meeting.brought[i].close();
        meeting.taken[i].close();
      }
      meeting.done = true;
      meeting.room.notifyAll();
    }
  }

  @Override
  public int worker() {
    return worker;
  }

  @Override
  public int workers() {
    return room.workers;
  }

  @Override
  public Pending send(Tensor tensor, int to, int tag) {
    return meet(new Letter(worker, to, tag), 0, tensor);
  }

  @Override
  public Pending receive(Tensor into, int from, int tag) {
    return meet(new Letter(from, worker, tag), 1, into);
  }

  private Pending meet(Record letter, int end, Tensor tensor) {
    return meet(
        letter, 2, end, tensor, tensor, (brought, taken) -> taken[1].copyInPlace(brought[0]));
  }

  private Pending meet(
      Record at, int size, int place, Tensor brought, Tensor taken, Together together) {
    synchronized (room) {
      Meeting meeting = room.meetings.computeIfAbsent(at, key -> new Meeting(room, size));
      join(meeting, place, brought, taken, together);
      if (meeting.done) {
        room.meetings.remove(at);
      }
      return meeting;
    }
  }

  @Override
  public Group group(String name, List<Integer> members) {
    return new LocalGroup(name, members.indexOf(worker), members.size());
  }

  /** Has all others stop waiting. */
  public void fail(Throwable failure) {
    synchronized (room) {
      room.failure = failure;
      room.notifyAll();
    }
  }

  @Override
  public void close() {
    // the room is forgotten with the last of its workers
  }

  /** The members meet once for each operation; who comes twice waits for the next meeting. */
  private final class LocalGroup implements Group {
    private final String name;
    private final int place;
    private final int size;
    private long operations;

    private LocalGroup(String name, int place, int size) {
      this.name = name;
      this.place = place;
      this.size = size;
    }

    @Override
    public int size() {
      return size;
    }

    @Override
    public Pending sum(Tensor tensor) {
      return meet(tensor, tensor, (brought, taken) -> copyToAll(total(brought), taken));
    }

    @Override
    public Pending broadcast(Tensor tensor, int root) {
      return meet(tensor, tensor, (brought, taken) -> copyToAll(brought[root].copy(), taken));
    }

    @Override
    public Pending gather(Tensor own, Tensor all) {
      return meet(
          own,
          all,
          (brought, taken) -> {
            List<Tensor> flat = new ArrayList<>();
            for (Tensor part : brought) {
              flat.add(part.flattened(0));
            }
            Tensor joined = Tensor.joined(flat, 0);
            for (Tensor tensor : taken) {
              tensor.flattened(0).copyInPlace(joined);
            }
          });
    }

    @Override
    public Pending sumParts(Tensor all, Tensor own) {
      return meet(
          all,
          own,
          (brought, taken) -> {
            Tensor total = total(brought).flattened(0);
            long part = total.elements() / taken.length;
            for (int i = 0; i < taken.length; i++) {
              taken[i].flattened(0).copyInPlace(total.part(0, i * part, part));
            }
          });
    }

    @Override
    public Pending exchange(List<Tensor> to, List<Tensor> from) {
      List<Pending> messages = new ArrayList<>();
      for (int member = 0; member < size; member++) {
        if (member != place && from.get(member).elements() > 0) {
          Record at = new Handing(name, operations, member, place);
          messages.add(LocalTransport.this.meet(at, 1, from.get(member)));
        }
        if (member != place && to.get(member).elements() > 0) {
          Record at = new Handing(name, operations, place, member);
          messages.add(LocalTransport.this.meet(at, 0, to.get(member)));
        }
      }
      operations++;
      return new PendingMessages(messages, () -> {});
    }

    private Pending meet(Tensor brought, Tensor taken, Together together) {
      Record at = new Collective(name, operations++);
      return LocalTransport.this.meet(at, size, place, brought, taken, together);
    }
  }

  private static Tensor total(Tensor[] parts) {
    Tensor total = parts[0].copy();
    for (int i = 1; i < parts.length; i++) {
      total.addInPlace(parts[i]);
    }
    return total;
  }

  private static void copyToAll(Tensor from, Tensor[] all) {
    for (Tensor tensor : all) {
      tensor.copyInPlace(from);
    }
  }
}
