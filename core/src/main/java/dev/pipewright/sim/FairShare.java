package dev.pipewright.sim;

import java.util.Arrays;

/**
 * The rates of messages that share links: max–min fair. No message can be faster without making one
 * slower that is no faster.
 *
 * <p>Source: D. Bertsekas, R. Gallager, <i>Data Networks</i>, 1992, §6.5.2, progressive filling:
 * the link with the least bandwidth for each of its open messages settles them all; and again with
 * what is left. A message that comes or goes changes only the rates of those that its links reach,
 * directly or through others; only they are settled anew.
 */
final class FairShare {
  private final Wires wires;
  private int[][] routes = new int[16][]; // by message
  private double[] rates = new double[16];
  private final int[][] members; // by link: its messages
  private final int[] counts;

  private final double[] left; // by link, while rates are settled
  private final int[] open;
  private final boolean[] linkSeen;
  private boolean[] messageSeen = new boolean[16];
  private int[] links = new int[16]; // of the part that is settled
  private int linkCount;
  private int[] messages = new int[16];
  private int messageCount;

  FairShare(Wires wires) {
    this.wires = wires;
    this.members = new int[wires.links()][4];
    this.counts = new int[wires.links()];
    this.left = new double[wires.links()];
    this.open = new int[wires.links()];
    this.linkSeen = new boolean[wires.links()];
  }

  /** Adds a message; {@link #changed} are those whose rates it changes, itself among them. */
  void add(int message, int[] route) {
    if (message >= routes.length) {
      int size = Math.max(message + 1, 2 * routes.length);
      routes = Arrays.copyOf(routes, size);
      rates = Arrays.copyOf(rates, size);
      messageSeen = Arrays.copyOf(messageSeen, size);
    }
    routes[message] = route;
    for (int link : route) {
      if (counts[link] == members[link].length) {
        members[link] = Arrays.copyOf(members[link], 2 * counts[link]);
      }
      members[link][counts[link]++] = message;
    }
    gather(route);
    settle();
  }

  /** Takes a message away. */
  void remove(int message) {
    int[] route = routes[message];
    for (int link : route) {
      int at = 0;
      while (members[link][at] != message) {
        at++;
      }
      members[link][at] = members[link][--counts[link]];
    }
    gather(route);
    settle();
  }

  double rate(int message) {
    return rates[message];
  }

  /** How many messages the last change gave new rates. */
  int changed() {
    return messageCount;
  }

  int changed(int index) {
    return messages[index];
  }

  /** The links that the route reaches, and their messages. */
  private void gather(int[] route) {
    linkCount = 0;
    messageCount = 0;
    for (int link : route) {
      see(link);
    }
    for (int next = 0; next < linkCount; next++) {
      int link = links[next];
      for (int i = 0; i < counts[link]; i++) {
        int message = members[link][i];
        if (!messageSeen[message]) {
          messageSeen[message] = true;
          if (messageCount == messages.length) {
            messages = Arrays.copyOf(messages, 2 * messageCount);
          }
          messages[messageCount++] = message;
          for (int other : routes[message]) {
            see(other);
          }
        }
      }
    }
    for (int i = 0; i < linkCount; i++) {
      linkSeen[links[i]] = false;
    }
  }

  private void see(int link) {
    if (!linkSeen[link]) {
      linkSeen[link] = true;
      if (linkCount == links.length) {
        links = Arrays.copyOf(links, 2 * linkCount);
      }
      links[linkCount++] = link;
    }
  }

  private void settle() {
    for (int i = 0; i < linkCount; i++) {
      left[links[i]] = wires.bandwidth(links[i]);
      open[links[i]] = counts[links[i]];
    }
    int unsettled = messageCount;
    while (unsettled > 0) {
      int tightest = -1;
      double least = Double.POSITIVE_INFINITY;
      for (int i = 0; i < linkCount; i++) {
        int link = links[i];
        if (open[link] > 0 && left[link] / open[link] < least) {
          least = left[link] / open[link];
          tightest = link;
        }
      }
      unsettled -= settle(tightest, least);
    }
  }

  /** Gives the open messages of a link their rate; returns how many there were. */
  private int settle(int link, double rate) {
    int settled = 0;
    for (int i = 0; i < counts[link]; i++) {
      int message = members[link][i];
      if (messageSeen[message]) {
        messageSeen[message] = false;
        rates[message] = rate;
        settled++;
        for (int other : routes[message]) {
          left[other] -= rate;
          open[other]--;
        }
      }
    }
    return settled;
  }
}
