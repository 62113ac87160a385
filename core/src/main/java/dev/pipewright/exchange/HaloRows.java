package dev.pipewright.exchange;

import dev.pipewright.parallel.Halo;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Span;
import dev.pipewright.parallel.Windows;
import java.util.List;

/**
 * Elements of a sample that the parts of a map send each other before a layer with windows, along
 * one axis: rows of the neighbours with all their channels, and of the other axes what the sender
 * has, those rows included that an earlier axis has brought.
 */
final class HaloRows implements GroupExchange.Handed {
  private final Windows windows;
  private final List<Integer> map;
  private final Parallelism split;
  private final int axis;
  private final int channels;
  private final Halo halo;

  HaloRows(Windows windows, List<Integer> map, Parallelism split, int axis, int channels) {
    this.windows = windows;
    this.map = map;
    this.split = split;
    this.axis = axis;
    this.channels = channels;
    this.halo = windows.halo(axis, map.get(axis), split.grid().get(axis));
  }

  @Override
  public long elements(int from, int to) {
    int[] place = split.place(from);
    int[] other = split.place(to);
    long elements = channels * halo.lent(place[axis], other[axis]).count();
    for (int each = 0; each < place.length; each++) {
      if (each != axis && place[each] != other[each]) {
        return 0;
      }
      if (each != axis) {
        elements *= extent(each, place[each]);
      }
    }
    return elements;
  }

  /** Those of the members that have most of the other axes: one for each part of the axis. */
  @Override
  public long[][] messages(int members) {
    long others = channels;
    for (int each = 0; each < map.size(); each++) {
      long most = 0;
      for (int place = 0; each != axis && place < split.grid().get(each); place++) {
        most = Math.max(most, extent(each, place));
      }
      others *= each == axis ? 1 : most;
    }
    int parts = split.grid().get(axis);
    long[][] messages = new long[parts][parts];
    for (int from = 0; from < parts; from++) {
      for (int to = 0; to < parts; to++) {
        messages[from][to] = from == to ? 0 : others * halo.lent(from, to).count();
      }
    }
    return messages;
  }

  /** Positions of a part along an axis, with those that windows reach once these are there. */
  private long extent(int along, int place) {
    int parts = split.grid().get(along);
    if (parts == 1 || along > axis) {
      return Span.of(map.get(along), place, parts).count();
    }
    Halo reached = windows.halo(along, map.get(along), parts);
    return reached.needed(place).count()
        + reached.paddingBefore(place)
        + reached.paddingAfter(place);
  }
}
