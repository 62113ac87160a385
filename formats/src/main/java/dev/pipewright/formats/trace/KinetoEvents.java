package dev.pipewright.formats.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The events of a trace in columns, some 60 bytes for each, so that a trace of a gigabyte fits in
 * memory. Times are nanoseconds.
 */
final class KinetoEvents {
  /** No number, where one is optional. */
  static final int NONE = -1;

  /** What an event of a processor's thread is. */
  enum Host {
    /** An operator of PyTorch. */
    OP(0),
    /** A range that the program or PyTorch has named. */
    ANNOTATION(1),
    /** A call of a module. */
    MODULE(2);

    final int code;

    Host(int code) {
      this.code = code;
    }
  }

  /** Texts by number, each once. */
  static final class Texts {
    private final Map<String, Integer> numbers = new HashMap<>();
    private final List<String> all = new ArrayList<>();

    int number(String text) {
      Integer known = numbers.putIfAbsent(text, all.size());
      if (known != null) {
        return known;
      }
      all.add(text);
      return all.size() - 1;
    }

    String text(int number) {
      return all.get(number);
    }

    int size() {
      return all.size();
    }
  }

  /** Numbers that grow. */
  static final class Column {
    private long[] values = new long[256];
    private int size;

    void add(long value) {
      if (size == values.length) {
        values = Arrays.copyOf(values, 2 * size);
      }
      values[size++] = value;
    }

    long at(int index) {
      return values[index];
    }

    int size() {
      return size;
    }
  }

  /**
   * Finds the event with a number. It packs number and index, so numbers are below 2^31, as
   * correlations are.
   */
  static final class Index {
    private final long[] sorted;

    Index(Column numbers) {
      sorted = new long[numbers.size()];
      for (int i = 0; i < sorted.length; i++) {
        sorted[i] = (numbers.at(i) << 32) | i;
      }
      Arrays.sort(sorted);
    }

    /** The last event with the number, or {@link #NONE}. */
    int last(long number) {
      if (number < 0) {
        return NONE;
      }
      int after = Arrays.binarySearch(sorted, (number + 1) << 32);
      int at = (after >= 0 ? after : -after - 1) - 1;
      return at >= 0 && sorted[at] >> 32 == number ? (int) sorted[at] : NONE;
    }
  }

  final Texts names = new Texts();
  final Texts dimensions = new Texts();
  final Texts threads = new Texts();
  final Texts streams = new Texts();

  // events of threads
  final Column hostStart = new Column();
  final Column hostEnd = new Column();
  final Column hostThread = new Column();
  final Column hostName = new Column();
  final Column hostKind = new Column();
  final Column hostSequence = new Column();
  final Column hostDimensions = new Column();
  final Column hostExternal = new Column();

  // calls that launch work
  final Column launchCorrelation = new Column();
  final Column launchThread = new Column();
  final Column launchStart = new Column();

  // work of the device
  final Column workStart = new Column();
  final Column workEnd = new Column();
  final Column workStream = new Column();
  final Column workName = new Column();
  final Column workCorrelation = new Column();
  final Column workExternal = new Column();
  final Column workBytes = new Column(); // of a collective, where it is said
  final Column workGroup = new Column();
  final Column workCopies = new Column(); // 1 where it copies or fills memory

  int rank = NONE;
  int worldSize = NONE;
  String device = "";

  int hosts() {
    return hostStart.size();
  }

  int works() {
    return workStart.size();
  }

  String hostName(int host) {
    return names.text((int) hostName.at(host));
  }

  String workName(int work) {
    return names.text((int) workName.at(work));
  }

  boolean is(int host, Host kind) {
    return hostKind.at(host) == kind.code;
  }
}
