package dev.pipewright.formats.schedule;

/**
 * Positions of a schedule's ops in its file: lines and columns from 1, by rank and position in its
 * program.
 */
final class OpPlaces {
  private final int[] rankLines;
  private final int[] rankColumns; // 0 for the line as a whole
  private final int[][] lines;
  private final int[][] columns;

  /** The arrays become its own. */
  OpPlaces(int[] rankLines, int[][] lines, int[][] columns) {
    this(rankLines, new int[rankLines.length], lines, columns);
  }

  private OpPlaces(int[] rankLines, int[] rankColumns, int[][] lines, int[][] columns) {
    this.rankLines = rankLines;
    this.rankColumns = rankColumns;
    this.lines = lines;
    this.columns = columns;
  }

  /** All ops of a rank stand in one place. */
  static OpPlaces ofRanks(int[] lines, int[] columns) {
    return new OpPlaces(lines, columns, new int[lines.length][0], new int[lines.length][0]);
  }

  int ranks() {
    return rankLines.length;
  }

  /** The line of an op, or of its rank where the op is missing. */
  int line(int rank, int position) {
    return known(rank, position) ? lines[rank][position] : rankLines[rank];
  }

  /** The column of an op, or of its rank; 0 for the line as a whole. */
  int column(int rank, int position) {
    return known(rank, position) ? columns[rank][position] : rankColumns[rank];
  }

  private boolean known(int rank, int position) {
    return 0 <= position && position < lines[rank].length;
  }
}
