package dev.pipewright.formats.cluster;

import java.util.List;

/**
 * What nccl-tests measured for one size.
 *
 * @param line where it stands, from 1
 * @param bytes of the buffer, as their {@code doc/PERFORMANCE.md} defines it
 * @param operation the {@code redop}: {@code sum}, …, or {@code none}
 * @param root the rank that sends or collects; below 0 where all do the same
 * @param halves out of place and in place, as far as they were measured
 */
record NcclRow(int line, double bytes, String operation, double root, List<Half> halves) {

  /**
   * One of the two measurements of a row.
   *
   * @param place {@code out of place}, {@code in place}, or empty where the row has one only
   * @param micros time in microseconds; NaN where it was not measured
   * @param time the time as written
   * @param algorithmRate the column {@code algbw}, GB/s
   * @param busRate the column {@code busbw}, GB/s
   * @param wrong elements with a wrong result; 0 where results were not checked
   */
  record Half(
      String place,
      double micros,
      String time,
      double algorithmRate,
      double busRate,
      double wrong) {
    boolean isWrong() {
      return !(wrong == 0);
    }
  }

  boolean isWrong() {
    return halves.stream().anyMatch(Half::isWrong);
  }

  boolean reduces() {
    return !operation.equals("none");
  }

  boolean isRooted() {
    return root >= 0;
  }
}
