package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The referee of {@link Collectives}: plays messages one by one. A message leaves once those that
 * it waits for have arrived; after its latency it flows. It leaves and enters through a port of the
 * groups of the level below that which joins both devices (at the innermost level: the devices);
 * all flows of a port in one direction get equal shares of what it carries.
 */
final class MessageSimulation {
  private final Cluster cluster;
  private final Function<Level, Link> use;
  private final boolean contention;
  private final List<Message> messages = new ArrayList<>();

  private static final class Message {
    final double latency;
    final int level;
    final int exit;
    final int entry;
    final double flows; // that its ports carry at full rate
    final List<Message> followers = new ArrayList<>();
    double work; // seconds left at full rate
    double asynchronous; // since when, or will
    int missing; // messages that it still waits for

    Message(double latency, double work, int level, int exit, int entry, double flows) {
      this.latency = latency;
      this.work = work;
      this.level = level;
      this.exit = exit;
      this.entry = entry;
      this.flows = flows;
    }
  }

  /**
   * @param use which link of a level the messages take
   * @param contention whether flows share ports; otherwise each has a link of its own
   */
  MessageSimulation(Cluster cluster, Function<Level, Link> use, boolean contention) {
    this.cluster = cluster;
    this.use = use;
    this.contention = contention;
  }

  static MessageSimulation ofCollectives(Cluster cluster, boolean contention) {
    return new MessageSimulation(cluster, Level::collective, contention);
  }

  /** Adds a message and returns its number; it waits for those with the given numbers. */
  int send(int from, int to, double bytes, List<Integer> after) {
    int joining = cluster.levelJoining(from, to);
    Level level = cluster.levels().get(joining);
    Link link = use.apply(level);
    double work = link.seconds(bytes, 2) - link.seconds(bytes, 1);
    Message message =
        new Message(
            link.seconds(bytes) - work,
            work,
            joining,
            joining == 0 ? from : cluster.group(joining - 1, from),
            joining == 0 ? to : cluster.group(joining - 1, to),
            level.ports());
    message.missing = after.size();
    after.forEach(earlier -> messages.get(earlier).followers.add(message));
    messages.add(message);
    return messages.size() - 1;
  }

  /** Seconds until the last message has arrived. */
  double run() {
    List<Message> starting = new ArrayList<>();
    List<Message> asynchronous = new ArrayList<>();
    messages.stream().filter(message -> message.missing == 0).forEach(starting::add);
    starting.forEach(message -> message.asynchronous = message.latency);
    double now = 0;
    while (!starting.isEmpty() || !asynchronous.isEmpty()) {
      int[][][] sharing = sharing(asynchronous);
      double next = Double.POSITIVE_INFINITY;
      for (Message message : starting) {
        next = Math.min(next, message.asynchronous);
      }
      for (Message message : asynchronous) {
        next = Math.min(next, now + message.work * slowdown(message, sharing));
      }
      double passed = next - now;
      now = next;
      List<Message> arrived = new ArrayList<>();
      for (Message message : asynchronous) {
        double slowdown = slowdown(message, sharing);
        message.work -= passed / slowdown;
        if (message.work * slowdown <= 1e-13 * now) {
          arrived.add(message);
        }
      }
      asynchronous.removeAll(arrived);
      double moment = now;
      List<Message> ready =
          starting.stream()
              .filter(message -> message.asynchronous <= moment * (1 + 1e-14))
              .toList();
      starting.removeAll(ready);
      asynchronous.addAll(ready);
      for (Message message : arrived) {
        for (Message follower : message.followers) {
          if (--follower.missing == 0) {
            follower.asynchronous = now + follower.latency;
            starting.add(follower);
          }
        }
      }
    }
    if (messages.stream().anyMatch(message -> message.missing > 0)) {
      throw new AssertionError("messages wait for each other");
    }
    return now;
  }

  /** Flows by level, direction and owner of the port. */
  private int[][][] sharing(List<Message> asynchronous) {
    int[][][] sharing = new int[cluster.levels().size()][2][cluster.size()];
    for (Message message : asynchronous) {
      sharing[message.level][0][message.exit]++;
      sharing[message.level][1][message.entry]++;
    }
    return sharing;
  }

  private double slowdown(Message message, int[][][] sharing) {
    int flows =
        Math.max(sharing[message.level][0][message.exit], sharing[message.level][1][message.entry]);
    return contention ? Math.max(1, flows / message.flows) : 1;
  }
}
