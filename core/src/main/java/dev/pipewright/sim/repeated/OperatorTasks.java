package dev.pipewright.sim.repeated;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Operators on devices that work on sample after sample, as tasks. An operator's level is how many
 * times a sample has changed devices on the longest way to it; what a device does at one level is a
 * task, and in every round it does that for the sample that entered so many rounds ago. So no task
 * waits for another of the same round, and a sample takes as many rounds as there are levels.
 *
 * <p>A device that pays for transfers takes an output in with the first task that reads it, and
 * gives its own out with the task that makes it; either once, to however many readers.
 */
public final class OperatorTasks {
  private final int[] deviceOf;
  private final int[][] edges;
  private final int[] level;
  private final TreeMap<Long, Integer> places = new TreeMap<>(); // by level and device
  private final List<Set<Integer>> after = new ArrayList<>();
  private double[] seconds = new double[0]; // by task

  private OperatorTasks(int[] deviceOf, int[][] edges) {
    this.deviceOf = deviceOf;
    this.edges = edges;
    this.level = new int[deviceOf.length];
  }

  /**
   * The tasks.
   *
   * @param deviceOf of each operator
   * @param edges pairs of operators, the second reading the first; without circles
   * @param seconds of each operator on its device
   * @param transferSeconds of each operator's output, in or out
   * @param pays by device, whether it pays for transfers
   */
  public static List<Task> of(
      int[] deviceOf, int[][] edges, double[] seconds, double[] transferSeconds, boolean[] pays) {
    OperatorTasks tasks = new OperatorTasks(deviceOf, edges);
    tasks.levels();
    tasks.pieces(seconds);
    tasks.transfers(transferSeconds, pays);
    return tasks.tasks();
  }

  private void levels() {
    int[] left = new int[level.length]; // edges from operators whose level is not known
    List<List<Integer>> readers = new ArrayList<>();
    for (int i = 0; i < level.length; i++) {
      readers.add(new ArrayList<>());
    }
    for (int[] edge : edges) {
      left[edge[1]]++;
      readers.get(edge[0]).add(edge[1]);
    }
    List<Integer> known = new ArrayList<>();
    for (int i = 0; i < level.length; i++) {
      if (left[i] == 0) {
        known.add(i);
      }
    }
    for (int next = 0; next < known.size(); next++) {
      int from = known.get(next);
      for (int to : readers.get(from)) {
        int change = deviceOf[from] == deviceOf[to] ? 0 : 1;
        level[to] = Math.max(level[to], level[from] + change);
        if (--left[to] == 0) {
          known.add(to);
        }
      }
    }
  }

  private void pieces(double[] ofOperators) {
    for (int i = 0; i < level.length; i++) {
      places.put(key(i), 0);
    }
    int count = 0;
    for (Map.Entry<Long, Integer> piece : places.entrySet()) {
      piece.setValue(count++);
      after.add(new HashSet<>());
    }
    seconds = new double[count];
    for (int i = 0; i < level.length; i++) {
      seconds[piece(i)] += ofOperators[i];
    }
    for (int[] edge : edges) {
      if (piece(edge[0]) != piece(edge[1])) {
        after.get(piece(edge[1])).add(piece(edge[0]));
      }
    }
  }

  private long key(int operator) {
    return (long) level[operator] << 32 | deviceOf[operator];
  }

  private int piece(int operator) {
    return places.getOrDefault(key(operator), -1);
  }

  private void transfers(double[] transferSeconds, boolean[] pays) {
    List<Map<Integer, Integer>> readers = new ArrayList<>(); // by producer: device to first piece
    for (int i = 0; i < level.length; i++) {
      readers.add(new TreeMap<>());
    }
    for (int[] edge : edges) {
      if (deviceOf[edge[0]] != deviceOf[edge[1]]) {
        readers.get(edge[0]).merge(deviceOf[edge[1]], piece(edge[1]), Math::min); // by level
      }
    }
    for (int i = 0; i < level.length; i++) {
      Map<Integer, Integer> abroad = readers.get(i);
      if (!abroad.isEmpty() && pays[deviceOf[i]]) {
        seconds[piece(i)] += transferSeconds[i];
      }
      for (Map.Entry<Integer, Integer> reader : abroad.entrySet()) {
        seconds[reader.getValue()] += pays[reader.getKey()] ? transferSeconds[i] : 0;
      }
    }
  }

  private List<Task> tasks() {
    Task[] tasks = new Task[seconds.length];
    places.forEach((key, place) ->
        tasks[place] =
            new Task(
                (int) (long) key,
                seconds[place],
                -(int) (key >> 32),
                0,
                after.get(place).stream().sorted().toList()));
    return Arrays.asList(tasks);
  }
}
